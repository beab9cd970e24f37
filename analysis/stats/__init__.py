"""Statistics: agreement, proportions, diagnostics, resampling. Undefined is NaN with a reason, never 0."""
