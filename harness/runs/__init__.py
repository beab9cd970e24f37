"""What composes the parts of the harness into one resumable run."""
