"""Judges beside people's labels: ceilings, policies for gold labels, published ratings."""
