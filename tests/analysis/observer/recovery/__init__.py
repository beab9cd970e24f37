"""Recovery with guidance and without."""
