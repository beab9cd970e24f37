"""What a run of a judge is worth: its scores, its page, and what they were made from."""
