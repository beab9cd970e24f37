"""The hook of a coding agent: its calls, the process of a session, and the settings that it is installed in."""
