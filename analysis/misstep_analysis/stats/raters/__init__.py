"""How far raters agree, and what depends on their margins."""
