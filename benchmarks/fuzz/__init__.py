"""Mutated recordings through every reader, classifier and page: nothing but the project's own errors may come out.

A case follows from seed and number alone, so that any of them is made again by one command.
"""
