"""Experiments with running agents: many live sessions, each in its arm, as one resumable run."""
