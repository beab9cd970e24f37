"""A run of the reflexive loop: on any skill, by any agents, killed and gone on with at any moment."""
