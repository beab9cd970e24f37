"""The notebooks run, with the origin of each figure."""
