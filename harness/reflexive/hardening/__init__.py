"""A root file system to be hardened: rules that a check decides, a way in that a careless change breaks, workers."""

from misstep.harness.reflexive.hardening.skill import HardeningSkill

__all__ = ["HardeningSkill"]
