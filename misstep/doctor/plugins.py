"""The entry points that other packages add to Misstep, and whether each can be used."""

from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.agent.tools import TOOLS
from misstep_harness.classifiers import CLASSIFIERS, classifier_fault
from misstep_harness.clients import CLIENTS
from misstep_harness.datasets import LOADERS, OUTCOMES, RECORDED
from misstep_harness.edits import EDIT_FORMATS
from misstep_harness.errors import MisstepError
from misstep_harness.judges import JUDGES, shipped_judges
from misstep_harness.observer.detectors import DETECTORS, detector_named
from misstep_harness.observer.guidance import GUIDANCE, checked_guidance
from misstep_harness.readers import READERS, reader_fault
from misstep_harness.reflexive.plateau import DETECTORS as PLATEAU_DETECTORS
from misstep_harness.reflexive.runs.skills import SKILLS
from misstep_harness.registry import Registry, entry_points_from_outside, raised
from misstep_harness.repair.repairers import POLICIES
from misstep_harness.runs.judging.known_judges import known_judge
from misstep_harness.triage.runs.jobs import JOBS
from misstep_harness.triage.runs.judges import RULES as TRIAGE_RULES
from misstep_harness.verdict_readers import VERDICT_READERS


class Plugin(Struct, frozen=True):
    """One entry point of another package, in the group `misstep.` with `kind`; `error` says why it is not used."""

    kind: str
    name: str
    target: str
    package: str
    version: str
    error: str | None


_REGISTRIES: dict[str, Registry[Any]] = {
    registry.group: registry
    for registry in (
        READERS,
        CLASSIFIERS,
        JUDGES,
        DETECTORS,
        LOADERS,
        OUTCOMES,
        RECORDED,
        CLIENTS,
        TOOLS,
        TRIAGE_RULES,
        JOBS,
        EDIT_FORMATS,
        POLICIES,
        PLATEAU_DETECTORS,
        SKILLS,
        VERDICT_READERS,
        GUIDANCE,
    )
}


def installed_plugins() -> list[Plugin]:
    """Return every entry point in a group of Misstep's, by group and name; each is loaded to see whether that works."""
    return [_plugin(point) for point in entry_points_from_outside()]


def _plugin(point: EntryPoint) -> Plugin:
    package, version = (point.dist.name, point.dist.version) if point.dist else ("", "")
    return Plugin(point.group.removeprefix("misstep."), point.name, point.value, package, version, _error(point))


def _error(point: EntryPoint) -> str | None:
    registry = _REGISTRIES.get(point.group)
    if registry is None:
        return f"unknown group {point.group!r}: groups are {', '.join(_REGISTRIES)}"
    if point.name in registry or (registry is JUDGES and point.name in shipped_judges()):
        return f"Misstep has one of its own named {point.name!r}, which is used"
    if registry.names()[point.name] != point.value:
        return f"another package has one named {point.name!r}, which is used"
    try:
        if fault := _FAULTS.get(point.group):
            return fault(point.name)
        registry.load(point.name)
    except MisstepError as error:
        return error.line()
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a module from elsewhere may raise anything)
        return raised(error)
    return None


def _detector_fault(name: str) -> None:
    detector_named(name)


def _judge_fault(name: str) -> None:
    known_judge(name)


def _guidance_fault(name: str) -> None:
    checked_guidance(Path(name))


def _lacking(registry: Registry[Any], *members: str) -> Callable[[str], str | None]:
    """Return what says which members of a part are missing; without members, whether it can be called."""

    def fault(name: str) -> str | None:
        part = registry.load(name)
        missing = [one for one in members if not hasattr(part, one)]
        if missing:
            return f"it has no {', '.join(missing)}"
        return None if members or callable(part) else "it cannot be called"

    return fault


_FAULTS: dict[str, Callable[[str], str | None]] = {
    READERS.group: reader_fault,
    CLASSIFIERS.group: classifier_fault,
    JUDGES.group: _judge_fault,
    DETECTORS.group: _detector_fault,
    GUIDANCE.group: _guidance_fault,
    VERDICT_READERS.group: _lacking(VERDICT_READERS, "NAME", "is_own", "verdicts"),
    POLICIES.group: _lacking(POLICIES),
    SKILLS.group: _lacking(SKILLS),
}
