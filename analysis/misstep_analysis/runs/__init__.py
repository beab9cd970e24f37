"""Pages of many runs: all runs of a folder as an index, and two runs side by side."""
