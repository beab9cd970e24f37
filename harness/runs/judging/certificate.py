"""What a judge was shown to do, bound to that judge: a file that `judge certify` writes and `--require` reads.

    certified = "2026-11-26T06:00:00+00:00"
    valid_until = "2027-02-24T06:00:00+00:00"
    [asked]         judge, prompt, model and settings, as in run.toml
    [benchmark]     where it was shown: for information
    [shown.accuracy]

No key and no address of a server is in it, as none is in the settings of a run.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from misstep.harness.errors import InputError, opening
from misstep.harness.forms import toml_form
from misstep.harness.journal.records import Manifest, now
from misstep.harness.version import __version__

_NOT_THE_JUDGE = ("benchmark", "sample", "sample_seed")
_DIGEST = "judge_digest"
_WORDS = {_DIGEST: "file of the judge"}
_FORM = "Make the file with `misstep judge certify RUN --out FILE`."
_AGAIN = "Run the judge on a labelled benchmark, and certify that run with `misstep judge certify RUN --out FILE`."
_MOST_SHOWN = 60


class ShownOn(Struct, frozen=True):
    """The benchmark on which it was shown, with the digest of its items."""

    name: str
    items: int
    digest: str
    evidence: str = "real"


class Certificate(Struct, frozen=True):
    """What a judge was shown to do; `shown` has an estimate for each figure."""

    run: str
    misstep: str
    certified: str
    valid_until: str
    asked: dict[str, Any]
    benchmark: ShownOn
    shown: dict[str, dict[str, Any]] = field(default_factory=dict)


def certificate(manifest: Manifest, run: str, benchmark: ShownOn, shown: dict[str, Any], days: int) -> Certificate:
    """Return the certificate of the judge of a run, which holds from now for so many days."""
    settings = {name: value for name, value in manifest.settings.items() if name not in _NOT_THE_JUDGE}
    until = datetime.fromisoformat(now()) + timedelta(days=days)
    return Certificate(run, __version__, now(), until.isoformat(), settings, benchmark, shown)


def read_certificate(file: Path) -> Certificate:
    """Return the certificate in a file."""
    with opening(file, _FORM):
        data = file.read_bytes()
    certificate = toml_form(data, Certificate, file, _FORM)
    _ends(certificate, file)
    return certificate


def check_certified(files: Iterable[Path], settings: Mapping[str, Any]) -> None:
    """Refuse a judge for which none of some certificates holds, and say what changed or that it has run out."""
    known = [(file, read_certificate(file)) for file in files]
    if not known:
        return
    named = [one for one in known if one[1].asked.get("judge") == settings.get("judge")]
    file, closest = min(named or known, key=lambda one: len(changes(one[1].asked, settings)))
    if changed := changes(closest.asked, settings):
        parts = "; ".join(f"{part}: {was} there, {now_} here" for part, (was, now_) in changed.items())
        raise InputError(f"the certificate is not of this judge: {parts}", _AGAIN, file=file)
    if _ends(closest, file) < datetime.now(UTC):
        raise InputError(f"the certificate ran out on {closest.valid_until[:10]}", _AGAIN, file=file)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Part of a judge → how it was and how it is, for the parts that differ.

    The digest of its file covers prompt and examples, so that it is named where nothing else differs.
    """
    was, is_now = dict(_parts(before)), dict(_parts(after))
    parts = [part for part in {**was, **is_now} if was.get(part) != is_now.get(part)]
    parts = [part for part in parts if part != _DIGEST] or parts
    return {_WORDS.get(part, part): (_shown(was.get(part)), _shown(is_now.get(part))) for part in parts}


def _parts(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if name in _NOT_THE_JUDGE or value is None:
            continue
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", one) for inner, one in value.items() if one is not None)
        else:
            yield name, value


def _shown(value: object) -> str:
    text = "nothing" if value is None or value == "" else str(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _ends(one: Certificate, file: Path) -> datetime:
    try:
        return datetime.fromisoformat(one.valid_until).astimezone(UTC)
    except ValueError as error:
        raise InputError(f"{one.valid_until!r} is not a time", _FORM, file=file, field="valid_until") from error
