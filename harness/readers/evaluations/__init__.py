"""Logs of evaluation tools."""
