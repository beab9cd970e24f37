"""Bring a target back to what it was, whatever a worker did to it, and make sure that it is."""

import re
from contextlib import suppress

from misstep_harness.errors import CannotWrite, MisstepError, clause
from misstep_harness.escaping import one_line, without_surrogates
from misstep_harness.reflexive.log import Log
from misstep_harness.reflexive.protocols import Target
from misstep_harness.reflexive.records import Restored, SnapshotName, SnapshotTaken, Warned

_REVERT = re.compile(r"^REVERT:[ \t]*(.+)$", re.MULTILINE)


def keep_baseline(target: Target) -> str:
    """The digest of the target as it was found, which is kept; one that a killed process has kept already stays."""
    digest = target.digest()
    return digest if target.kept("baseline") == digest else target.keep("baseline")


def keep_progress(target: Target, log: Log, item: str, attempt: int) -> None:
    """Keep what was solved: from here on nothing takes it away again."""
    log.add(SnapshotTaken("progress", target.keep("progress")), item, attempt)


async def restored(target: Target, log: Log, item: str = "", attempt: int = 0) -> str:
    """Bring the target back to `progress`, else to `baseline`; gives what is wrong with it then, or nothing."""
    names: list[SnapshotName] = ["baseline"] if log.state.progress is None else ["progress", "baseline"]
    for name in names:
        done, why = await _restored_to(name, target, log)
        lost = log.state.lost() if name == "baseline" and log.state.progress is not None else []
        log.add(done, item, attempt)
        if done.verified:
            if lost:
                log.add(Warned(f"The snapshot progress is lost, and with it: {', '.join(lost)}."), item, attempt)
            return "" if done.reachable else f"it was restored to {name} and cannot be reached"
        log.add(Warned(f"The target is not what the snapshot {name} was{why}."), item, attempt)
    return "it could not be restored to any snapshot"


async def _restored_to(name: SnapshotName, target: Target, log: Log) -> tuple[Restored, str]:
    """How a restoration went, and why it failed where something was raised; a device without room fails the run."""
    wanted = log.state.baseline if name == "baseline" else log.state.progress or ""
    try:
        target.restore(name)
        digest = target.digest()
    except CannotWrite:
        raise
    except (MisstepError, OSError) as error:
        why = error.found if isinstance(error, MisstepError) else str(error)
        return Restored(name, wanted, "", reachable=False), f": {clause(one_line(why))}"
    return Restored(name, wanted, digest, await reached(target)), ""


async def reverted_by_script(target: Target, log: Log, reply: str, before: str, item: str, attempt: int) -> str:
    """Let the worker's own script bring the target back, as loops without snapshots do."""
    try:
        await target.revert_by_script(revert_script(reply))
    except (MisstepError, OSError) as error:
        why = without_surrogates(" ".join(str(error).split()))
        log.add(Warned(f"The revert script failed: {why}"), item, attempt)
    reachable = await reached(target)
    log.add(Restored("", before, digest_now(target), reachable), item, attempt)
    return "" if reachable else "it cannot be reached after the worker's script was run"


def digest_now(target: Target) -> str:
    """The digest of the target's content, empty where it cannot be told: a worker may have broken that as well."""
    with suppress(MisstepError, OSError):
        return target.digest()
    return ""


async def reached(target: Target) -> bool:
    """Return whether the target's own access works; one that raises does not."""
    with suppress(MisstepError, OSError):
        return await target.reachable()
    return False


def revert_script(reply: str) -> str:
    r"""The script that a worker says would undo its change: a line `REVERT: …` of its reply; empty if there is none."""
    match = _REVERT.search(reply)
    return match[1].strip() if match else ""
