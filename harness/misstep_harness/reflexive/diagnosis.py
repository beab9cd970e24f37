"""What is found of a target after an attempt: the check of its item, and its health probes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from misstep_harness.errors import MisstepError, SkillFailed, TimeSpent
from misstep_harness.escaping import one_line, without_surrogates
from misstep_harness.reflexive.protocols import Check, HealthProbe, Reading, Target
from misstep_harness.reflexive.records import Channel, Checked, CheckStatus, Diagnosed, LoopSettings, WorkItem
from misstep_harness.registry import raised

MOST_CHARACTERS = 2_000


_HOW: Mapping[Channel, str] = {
    "in_band": "The vital signs were read in band.",
    "out_of_band": "The vital signs were read from the host's side, as the target's own access failed.",
    "none": "No vital sign could be read.",
}


async def diagnosed(target: Target, signs: Sequence[HealthProbe], *, out_of_band: bool) -> Diagnosed:
    """Read the health probes of a target as they are now."""
    readings, why = await _read(target.read, signs)
    if not why:
        return _capture("in_band", "", readings)
    if not out_of_band:
        return _capture("in_band" if readings else "none", why, readings, signs)

    async def outside(sign: HealthProbe) -> Reading:
        return target.read_outside(sign)

    signs_read, failed = await _read(outside, signs)
    if signs_read:
        return _capture("out_of_band", why, signs_read, signs)
    return _capture("none" if signs and not readings else "in_band", f"{why}; {failed}", readings, signs)


async def _read(
    read: Callable[[HealthProbe], Awaitable[Reading]], signs: Sequence[HealthProbe]
) -> tuple[dict[HealthProbe, Reading], str]:
    readings: dict[HealthProbe, Reading] = {}
    why = ""
    for sign in signs:
        try:
            readings[sign] = await read(sign)
        except Exception as error:  # noqa: BLE001 (the boundary around what a broken target does)
            why = why or f"{sign.name}: {' '.join(str(error).split()) or type(error).__name__}"
            if isinstance(error, TimeSpent):  # a way that hangs would take as long for each of the others
                break
    return readings, why


def _capture(
    channel: Channel, why: str, readings: dict[HealthProbe, Reading], signs: Sequence[HealthProbe] = ()
) -> Diagnosed:
    facts = {sign.name: "It could not be read." for sign in signs}
    flags: dict[str, bool | None] = {sign.invariant: None for sign in signs if sign.invariant}
    for sign, reading in readings.items():
        text = without_surrogates(reading.text)
        facts[sign.name] = text[-MOST_CHARACTERS:] if sign.kind == "log" else text[:MOST_CHARACTERS]
        if sign.invariant:
            flags[sign.invariant] = reading.holds
    return Diagnosed(channel, without_surrogates(why), flags, facts)


def facts_told(capture: Diagnosed) -> str:
    """Return a capture as a text for agents: how it was taken, the invariants, and what was read."""
    words = {True: "holds", False: "is broken", None: "cannot be told"}
    how = _HOW[capture.channel]
    lines = [f"{how} {capture.why}" if capture.why else how]
    lines += [f"{name} {words[holds]}" for name, holds in capture.flags.items()]
    lines += [f"{name}: {text}" for name, text in capture.facts.items()]
    return "\n".join(lines)


async def evaluated(target: Target, item: WorkItem, settings: LoopSettings, protected: str) -> tuple[Checked, bool]:
    """What is found for an item, now, and whether a check was made at all; `counted` is what the loop is to go by."""
    was_checked = is_ready = True
    try:
        check = await target.check(item)
        is_ready = not item.deferred or target.ready(item)
    except Exception as error:  # noqa: BLE001 (the boundary around a skill's own evaluator)
        was_checked = False
        check = Check(healthy=False, status="unknown", text=f"The check could not be made: {_error_text(error)}")
    read: CheckStatus = "unknown"
    if not is_ready:
        check = replace(check, status="unknown")
    elif was_checked:
        read = typed(check) if settings.has("typed_evaluation") else by_substring(item, check)
    if settings.has("protected_check") and protected_now(target) != protected:
        read = "failed"
    return Checked(check.healthy, check.status, without_surrogates(check.text), read), was_checked


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


def _error_text(error: Exception) -> str:
    if isinstance(error, SkillFailed) and error.__cause__ is not None:
        return raised(error.__cause__)
    return one_line(str(error)) if isinstance(error, SkillFailed | TimeSpent) else raised(error)
