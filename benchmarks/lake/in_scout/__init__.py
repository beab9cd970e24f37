"""Programs that Inspect Scout's own Python runs, by their path; nothing of Misstep is imported in them."""
