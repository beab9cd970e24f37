"""What the rules flag on public runs, drawn by seed for a person to read, and what a reading found."""
