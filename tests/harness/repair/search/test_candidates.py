"""Ranking: suspicion, kind of mistake, what the failure ended with, and the sample."""

from misstep.harness.repair.search.candidates import candidates
from misstep.harness.repair.search.localisation import Suspect
from misstep.harness.repair.search.source import ProgramSource

TEXT = "def f(a, i):\n    if i < len(a):\n        return a[i]\n    return None\n"
SOURCES = {"app.py": ProgramSource("app.py", TEXT)}


def _ranked(scores: dict[int, float], failure: str = "", sample: int = 0) -> list[tuple[int, str, str]]:
    suspects = [Suspect("app.py", line, score, "") for line, score in scores.items()]
    found = candidates(SOURCES, suspects, failure, sample)
    return [(each.change.line, each.change.template, each.change.text) for each in found]


def test_changes_of_more_suspicious_lines_come_first_and_other_lines_are_left_alone() -> None:
    assert _ranked({2: 1.0, 3: 0.1})[0][0] == 2
    assert _ranked({2: 0.1, 3: 1.0})[0][0] == 3
    assert {line for line, _, _ in _ranked({3: 1.0})} == {3}


def test_what_the_failure_ended_with_makes_some_mistakes_likelier() -> None:
    before, after = (
        [kind for _, kind, _ in _ranked({2: 1.0, 3: 1.0}, said)] for said in ("", "IndexError: list index")
    )
    assert after.index("off by one") < before.index("off by one")


def test_no_change_is_proposed_twice() -> None:
    suspects = [Suspect("app.py", line, 1.0, "") for line in (2, 3, 4)]
    places = [(each.change.start, each.change.end, each.change.text) for each in candidates(SOURCES, suspects, "")]
    assert len(places) == len(set(places))


def test_a_sample_is_the_same_each_time_and_differs_from_the_others() -> None:
    scores = {2: 1.0, 3: 0.9}
    assert _ranked(scores, sample=1) == _ranked(scores, sample=1)
    assert _ranked(scores, sample=1) != _ranked(scores, sample=2)
    assert sorted(_ranked(scores, sample=1)) == sorted(_ranked(scores))
