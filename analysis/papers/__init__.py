"""One module a paper: records and published figures in, that paper's tables out."""
