"""What of a judge changed between two runs, by their settings."""

from collections.abc import Iterator, Mapping
from typing import Any

_NOT_THE_JUDGE = ("benchmark", "sample", "sample_seed")
_DIGEST = "judge_digest"
_WORDS = {_DIGEST: "file of the judge"}
_MOST_SHOWN = 60


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
