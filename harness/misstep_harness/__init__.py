"""What runs things: readers, data sets, classifiers and generators. Knows no statistics."""
