"""How fast a server is asked: what it says of its limits, what the person allows, and what its answers show."""
