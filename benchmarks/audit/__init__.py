"""How often the audit of printed figures raises a false alarm, and how often it finds what was planted."""
