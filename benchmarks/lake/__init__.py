"""Speed, size and memory of packed sessions, beside JSON Lines and beside Inspect Scout."""
