"""What the tool calls of a run are, what they did, and how their results say that they failed."""
