"""Seeded generators of trajectories whose truth is known by construction."""
