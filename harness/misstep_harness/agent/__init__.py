"""A ReAct agent: one thought and one command at a time, the observation back, until it exits or meets a limit."""
