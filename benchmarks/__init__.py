"""Speed, memory and validity, measured by hand or by `make bench`; the figures are in RESULTS.md."""
