"""What is wrong with a target, read before anything is reverted."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from misstep.harness.errors import TimeSpent
from misstep.harness.escaping import without_surrogates
from misstep.harness.records.loop_events import Channel, Diagnosed
from misstep.harness.reflexive.protocols import Reading, Target, VitalSign

MOST_CHARACTERS = 2_000


_HOW: Mapping[Channel, str] = {
    "in_band": "The vital signs were read in band.",
    "out_of_band": "The vital signs were read from the host's side, as the target's own access failed.",
    "none": "No vital sign could be read.",
}


async def diagnosed(target: Target, signs: Sequence[VitalSign], *, out_of_band: bool) -> Diagnosed:
    """Return the vital signs of a target as they are now."""
    readings, why = await _read(target.read, signs)
    if not why:
        return _capture("in_band", "", readings)
    if not out_of_band:
        return _capture("in_band" if readings else "none", why, readings, signs)

    async def outside(sign: VitalSign) -> Reading:
        return target.read_outside(sign)

    signs_read, failed = await _read(outside, signs)
    if signs_read:
        return _capture("out_of_band", why, signs_read, signs)
    return _capture("none" if signs and not readings else "in_band", f"{why}; {failed}", readings, signs)


async def _read(
    read: Callable[[VitalSign], Awaitable[Reading]], signs: Sequence[VitalSign]
) -> tuple[dict[VitalSign, Reading], str]:
    readings: dict[VitalSign, Reading] = {}
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
    channel: Channel, why: str, readings: dict[VitalSign, Reading], signs: Sequence[VitalSign] = ()
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
