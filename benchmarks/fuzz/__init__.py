"""Put mutated recordings through readers, classifiers and pages: nothing but the project's own errors may come out."""
