"""The rules of the hardening guide: `rules.toml`, each with what is checked in the declarative forms of `forms.py`."""

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep.harness.records.loop_events import WorkItem
from misstep.harness.reflexive.hardening.files import Files, or_why
from misstep.harness.reflexive.hardening.forms import Check, Kernel
from misstep.harness.reflexive.hardening.profile import Profile, read_profile


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule of the guide; `possible`: whether a running machine can keep to it, which no agent is told."""

    id: str
    category: str
    text: str
    checks: list[Check]
    after: tuple[str, ...] = ()
    last: bool = False
    deferred: bool = False
    possible: bool = True
    holds: bool = False

    @property
    def item(self) -> WorkItem:
        """Return the rule as a work item."""
        return WorkItem(self.id, self.category, self.text, self.after, self.last, self.deferred)

    def fault(self, files: Files) -> str:
        """Return what is wrong with the files by this rule; empty where they keep to it."""
        profile = read_profile(files)
        return "" if self.id in profile.not_applicable else _first_fault(self.checks, files, profile)

    def waits(self, files: Files) -> bool:
        """Return whether the configuration keeps to the rule and the running kernel does not yet."""
        kernel = [check for check in self.checks if isinstance(check, Kernel)]
        return bool(kernel) and bool(self.fault(files)) and not any(check.fault_at_start(files) for check in kernel)


@or_why
def _first_fault(checks: list[Check], files: Files, profile: Profile) -> str:
    return next((fault for check in checks if (fault := check.fault(files, profile))), "")


class _Rules(Struct, frozen=True, forbid_unknown_fields=True):
    rule: list[Rule]


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules of `rules.toml`, in their order."""
    return tuple(msgspec.toml.decode(Path(__file__).with_name("rules.toml").read_bytes(), type=_Rules).rule)
