"""Records of one system each: what its runs write, and what `analysis` reads of them."""
