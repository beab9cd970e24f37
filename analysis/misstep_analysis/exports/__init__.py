"""A run written for other tools: Parquet, CSV, a data set for `datasets`, or a scan for Inspect Scout."""
