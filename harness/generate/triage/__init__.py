"""Triage cases whose truth can be executed: task families as data, and what each case of a benchmark is to be.

A family (`family`, and a TOML file each under `families/`) is a task with its tests, an honest way to do it, wrong and
other right ways, and defects of the task. What needs no text of a family, such as a run that is cut short or tests that
depend on chance, is in `mechanisms`. Nothing here runs a command: `harness.runs.triage` does.
"""
