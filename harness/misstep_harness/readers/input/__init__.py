"""Files to bytes and lines: archives, databases, Parquet, encodings, cuts."""
