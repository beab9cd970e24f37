"""The page of runs of judges: figures, findings, and every item to look at."""
