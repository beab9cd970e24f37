"""A run's folder: manifest, append-only lines, resume, workers."""
