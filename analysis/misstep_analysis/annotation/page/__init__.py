"""The pages of an annotation study: a case to label, the raters' answers side by side, the results."""
