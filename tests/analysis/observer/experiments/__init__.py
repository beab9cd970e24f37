"""Experiments with two arms."""
