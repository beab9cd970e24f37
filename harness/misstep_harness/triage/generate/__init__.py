"""Triage cases whose truth can be executed: task families as data, and what each case of a benchmark is to be."""
