"""Sessions of coding agents: one module a program."""
