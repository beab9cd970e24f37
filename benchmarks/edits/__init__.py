"""Edits with known truth and edits of real models, applied by Misstep and by others: what is right, and what is not."""
