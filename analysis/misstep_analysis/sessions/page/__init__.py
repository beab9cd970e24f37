"""The page of a run of `classify`: rates by project and week, and every flagged session to look at."""
