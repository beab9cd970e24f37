"""A suite of tests: its command, one run of it, and what the runner printed."""
