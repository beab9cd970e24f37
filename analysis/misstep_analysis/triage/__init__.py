"""Whose fault runs are: how well judges and raters say so, which way they err, and what that does to training."""
