"""Data sets of programs, faults and patches."""
