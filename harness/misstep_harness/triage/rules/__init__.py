"""Judges by rule, without a model, of whose fault a failed run is: one for each kind of access."""
