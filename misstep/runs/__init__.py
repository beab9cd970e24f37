"""Commands about finished runs: `report`, `merge`, `count`, `notebook`, `export`."""
