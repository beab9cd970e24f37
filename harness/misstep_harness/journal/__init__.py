"""The folder of a run: manifest, append-only records, resume, workers."""
