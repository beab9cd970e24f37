"""Wink: misbehaviour of coding agents, and what interventions do about it."""
