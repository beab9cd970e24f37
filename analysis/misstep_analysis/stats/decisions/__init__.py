"""Times to an event, ratios, power, thresholds, and looks before the end."""
