"""Scores of judges: calibration, reliability, and thresholds for a precision."""
