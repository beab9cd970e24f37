"""A root file system to be hardened: rules that a check decides, a way in that a careless change breaks, workers.

The file system is a tree of files in a workspace; what a worker runs on it runs in the sandbox. Whether a login, sudo,
a service or the application would still work is decided on the host, from the files alone: no command of a worker
reaches what decides, but for the audit profile, which is among the files as it is in life.
"""

from misstep.harness.reflexive.hardening.skill import HardeningSkill

__all__ = ["HardeningSkill"]
