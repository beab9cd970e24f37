"""What checks a patch, inside the agent's loop and at its end (section 6 of the paper)."""
