"""The parts of the harness, composed into resumable runs."""
