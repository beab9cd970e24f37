"""Groups of options that several commands share, and what these commands do with them."""
