"""What differs between two runs in one folder, as names for the code and as clauses for people."""

from collections.abc import Iterator
from typing import Any

import msgspec

from misstep.harness.journal.inputs import difference
from misstep.harness.journal.records import Manifest

_FILES = {
    "prompt": "the prompt",
    "examples": "the judge's examples",
    "judge_digest": "the judge's file",
    "data_digest": "the files of the data set",
}
"""What is asked that only a digest is kept of, as people call it; the judge's file is the last that is named."""

_MEANT = "label_mapping"
"""The table of what imported labels mean; the names in it are anybody's."""
_OPTION = "--"


def differing_settings(earlier: Manifest, now: Manifest) -> list[str]:
    """Return the settings in which two runs differ, as clauses for people."""
    if earlier.command != now.command:
        return [f"it is one of `misstep {earlier.command}`"]
    differs = {
        name: (earlier.settings.get(name), now.settings.get(name))
        for name in {**earlier.settings, **now.settings}
        if earlier.settings.get(name) != now.settings.get(name)
    }
    told = [clause for name, (was, is_) in differs.items() for clause in _clauses(name, was, is_)]
    # The digest of the judge's file is over all of it: where what changed in it is known, that is said.
    return told if told or "judge_digest" not in differs else [f"{_FILES['judge_digest']} changed"]


def _clauses(name: str, was: Any, is_: Any) -> Iterator[str]:
    """Return the differences, one clause each; in a table, those of its values."""
    if name == "judge_digest":
        return
    then, now = _table(was), _table(is_)
    if name in _FILES:
        yield f"{_FILES[name]} changed"
    elif then is not None and now is not None:
        for one in {**then, **now}:
            # The name of a judge's model is asked for by itself.
            if (name, one) != ("settings", "name") and then.get(one) != now.get(one):
                called = f"{_OPTION}label for {one}" if name == _MEANT else one
                yield from _clauses(called, then.get(one), now.get(one))
    else:
        verbs = ("were", "are") if name.endswith("s") and not name.startswith(_OPTION) else ("was", "is")
        yield f"{name} {verbs[0]} {_shown(was)} and {verbs[1]} now {_shown(is_)}"


def _table(noted: Any) -> dict[str, Any] | None:
    """Return a recorded value as a table; `None` if it is not one. Earlier versions recorded tables as JSON."""
    if isinstance(noted, str) and noted.startswith("{"):
        try:
            noted = msgspec.json.decode(noted)
        except msgspec.DecodeError:
            return None
    return {} if noted is None else noted if isinstance(noted, dict) else None


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "not given"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def changes(earlier: Manifest, now: Manifest) -> tuple[frozenset[str], str]:
    """The names of the settings in which two runs differ, `inputs` among them, and the same as a clause for people."""
    names = {
        name for name in {**earlier.settings, **now.settings} if earlier.settings.get(name) != now.settings.get(name)
    }
    clauses = differing_settings(earlier, now)
    if inputs := difference(earlier.inputs, now.inputs):
        names.add("inputs")
        clauses.append(inputs)
    return frozenset(names), "; ".join(clauses)
