"""Repeated attempts of any system at tasks: pass@k and pass^k, tasks that pass only sometimes, systems compared."""
