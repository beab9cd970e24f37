"""The Engineering Agent: solve rates and the judge of patches."""
