"""Which tables and tests can lie behind printed figures."""
