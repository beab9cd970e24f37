"""The page on which one person labels a sample."""
