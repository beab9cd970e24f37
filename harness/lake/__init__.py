"""Runs that outgrow a machine: files at addresses such as `s3://`, and agent runs packed into Parquet."""
