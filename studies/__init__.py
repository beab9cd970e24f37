"""The studies behind notebooks, `reproduce` and reports: named runs over named data."""
