"""Wink: misbehaviour of coding agents, and the effect of interventions."""
