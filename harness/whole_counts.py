"""Counts of whole things that several machines make and one adds up: what a statistic needs of records, and no more."""
