"""Experiments with two arms: what sessions cost and how often their tool calls fail, with and without the treatment."""
