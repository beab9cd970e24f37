"""Pages: one self-contained HTML file each, readable without scripts."""
