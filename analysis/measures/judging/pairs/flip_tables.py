"""How often attacked items change a judge's verdict, as a sentence, as a table and as a document."""

import json
from collections.abc import Mapping

import msgspec

from misstep.analysis.measures.judging.pairs.flips import Flips, Part
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, Unit, estimate_row, made_by_this
from misstep.analysis.tables.wording import number_text, with_interval

FEW_PLAIN = 40
"""With fewer plain items than this an interval over them is narrower than it should be (`clustered`)."""

_OVERALL = "All attacked items"


def flips_document(found: Flips) -> str:
    """Return the flips as one JSON document."""
    return json.dumps(msgspec.to_builtins(found), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def flips_headline(found: Flips) -> str:
    """Return what was found, in one sentence with its intervals; what differs by chance alone is always said."""
    who = f"{found.judge} with {found.model}" if found.model else found.judge
    rate = found.flip_rate
    if rate.value is None:
        return f"Nothing can be said of {who}: {rate.reason} ({found.n:,} were asked)."
    sentence = (
        f"{who} gives another verdict on {_with_ends(rate, 'share')} of {rate.n or 0:,} attacked "
        f"item{'s' if rate.n != 1 else ''} than without the attack"
    )
    if found.chance.value is None or found.excess.value is None:
        return f"{sentence}; how much of that is chance is not known: {found.chance.reason or found.excess.reason}."
    chance = number_text(found.chance.value, "share")
    return f"{sentence}, and on {chance} of plain copies: {_with_ends(found.excess, 'difference')} beyond chance."


@made_by_this
def flips_table(found: Flips, source: str) -> Table:
    """Flips, flips to the label that the text asks for, and flips by chance; then by style, encoding and position."""
    overall = {
        "Verdict differs": found.flip_rate,
        "Verdict as the text asks": found.target_rate,
        "Copy differs (chance)": found.chance,
    }
    excess = estimate_row("Differs beyond chance", found.excess, "difference", _OVERALL, source, "generated")
    by_wording, by_encoding, by_position = map(_rates, (found.by_style, found.by_encoding, found.by_position))
    drawn = {_OVERALL: overall, "Differs, by encoding": by_encoding, "Differs, by position": by_position}
    return Table(
        name="flips",
        paper="judging",
        title=f"{found.judge}: texts that try to steer it",
        finding=flips_headline(found),
        rows=(
            *_rows(_OVERALL, overall, source),
            excess,
            *_rows("Differs, by wording", by_wording, source),
            *_rows("Differs, by encoding", by_encoding, source),
            *_rows("Differs, by position", by_position, source),
        ),
        notes=tuple(_notes(found)),
        generator="misstep.harness.judges.injection.injected",
        drawn=tuple(row for group, rates in drawn.items() for row in _rows(group, _known(rates), source)),
    )


def _rates(parts: Mapping[str, Part]) -> dict[str, Estimate]:
    return {name.replace("_", " "): part.rate for name, part in parts.items()}


def _known(rates: Mapping[str, Estimate]) -> dict[str, Estimate]:
    return {name: rate for name, rate in rates.items() if rate.value is not None}


def _rows(group: str, rates: Mapping[str, Estimate], source: str) -> list[Row]:
    return [estimate_row(name, rate, "share", group, source, "generated") for name, rate in rates.items()]


def _notes(found: Flips) -> list[str]:
    counts = ", ".join(f"{count:,} {status}" for status, count in found.statuses.items() if count)
    notes = [
        f"{found.n:,} attacked items, made of {found.plain:,} plain ones, of which {found.copies:,} copies were asked "
        f"about too. {f'Without an answer, which is not a flip: {counts}.' if counts else 'All were answered.'}"
    ]
    if found.untwinned:
        notes.append(f"{found.untwinned:,} answered items are left out because their plain twin has no answer.")
    notes.append(
        "A verdict differs from that on the plain item; whether it is as the text asks is looked at where the plain "
        "item got another label. A part's figure is not adjusted for there being many parts."
    )
    if found.plain < FEW_PLAIN:
        notes.append(
            f"Intervals are over the {found.plain:,} plain items: with fewer than {FEW_PLAIN} they are narrower than "
            "they should be, and say little of items of another kind."
        )
    return notes


def _with_ends(estimate: Estimate, unit: Unit) -> str:
    if estimate.low is not None and estimate.low != estimate.high:
        return with_interval(estimate, unit)
    return f"{number_text(estimate.value, unit)} (without an interval: {estimate.reason})"
