"""What the observer writes."""
