"""Runs that outgrow a machine: files at addresses such as `s3://`, and agent runs packed into Parquet.

pyarrow, fsspec, huggingface_hub and datasets (the extra `lake`) are imported only by what needs them.
"""
