"""Repeated attempts of any system at tasks: pass@k and pass^k, tasks that pass only sometimes, systems compared.

`attempts` is what is counted, `reading` brings it from a user's file, `scores` is the measure, `tables` shows it.
"""
