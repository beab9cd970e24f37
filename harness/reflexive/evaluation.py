"""Whether an attempt brought its item about: what the evaluator found, and what the loop takes that for."""

from contextlib import suppress

from msgspec.structs import replace

from misstep.harness.errors import MisstepError, SkillFailed, TimeSpent
from misstep.harness.escaping import one_line, without_surrogates
from misstep.harness.records.loop_events import Checked, CheckStatus, WorkItem
from misstep.harness.reflexive.protocols import Check, Target
from misstep.harness.reflexive.settings import LoopSettings
from misstep.harness.registry import raised


async def evaluated(target: Target, item: WorkItem, settings: LoopSettings, protected: str) -> tuple[Checked, bool]:
    """What is found for an item, now, and whether a check was made at all; `counted` is what the loop is to go by."""
    made = is_ready = True
    try:
        check = await target.check(item)
        is_ready = not item.deferred or target.ready(item)
    except Exception as error:  # noqa: BLE001 (the boundary around a skill's own evaluator)
        made = False
        check = Check(healthy=False, status="unknown", text=f"The check could not be made: {_told(error)}")
    read: CheckStatus = "unknown"
    if not is_ready:
        check = replace(check, status="unknown")
    elif made:
        read = typed(check) if settings.has("typed_evaluation") else by_substring(item, check)
    if settings.has("protected_check") and protected_now(target) != protected:
        read = "failed"
    return Checked(check.healthy, check.status, without_surrogates(check.text), read), made


def protected_now(target: Target) -> str | None:
    """Return the digest of what the checks consist of; `None` where it cannot be told, which is never what it was."""
    with suppress(MisstepError, OSError):
        return target.protected()
    return None


def typed(check: Check) -> CheckStatus:
    """Return what a check comes to by its typed results: nothing passes on a target that is not healthy."""
    return "failed" if check.status == "passed" and not check.healthy else check.status


def by_substring(item: WorkItem, check: Check) -> CheckStatus:
    """Return what a check comes to for who looks for words in its text: the flaw of the original."""
    text = f"{item.id} {check.text}".upper()
    return "passed" if "HEALTHY" in text and "PASS" in text else "failed"


def _told(error: Exception) -> str:
    if isinstance(error, SkillFailed) and error.__cause__ is not None:
        return raised(error.__cause__)
    return one_line(str(error)) if isinstance(error, SkillFailed | TimeSpent) else raised(error)
