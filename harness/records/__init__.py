"""Records of one system each: written by its runs, and read by `analysis`."""
