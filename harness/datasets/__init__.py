"""One module a public data set: upstream files → a benchmark folder."""
