"""Files of data sets that are derived from upstream files by rules."""
