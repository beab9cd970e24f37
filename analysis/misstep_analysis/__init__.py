"""Numbers, tables and pages: reads records, never runs an agent or a model."""
