"""An error is one line: where, what was found, what to do, each sentence with one end."""

import pytest

from misstep_harness.errors import MisstepError, clause, closed


@pytest.mark.parametrize(
    ("result", "line"),
    [
        ("the server said no", "the server said no. Try again."),
        ("Incorrect API key provided.", "Incorrect API key provided. Try again."),
        ("connection refused: is a server there?", "connection refused: is a server there? Try again."),
        ("it said 'Stop!'", "it said 'Stop!' Try again."),
        ("it said “and so on…”", "it said “and so on…” Try again."),
        ("the folder 'a.b'", "the folder 'a.b'. Try again."),
    ],
)
def test_what_was_found_ends_once_whoever_wrote_it(result: str, line: str) -> None:
    assert MisstepError(result, "Try again.").line() == line
    assert closed(result) == line.removesuffix(" Try again.")


def test_an_error_without_advice_is_what_was_found() -> None:
    assert MisstepError("nothing is there").line() == "nothing is there"


def test_more_follows_a_sentence_without_its_full_stop() -> None:
    assert clause("Rate limit reached. ") == "Rate limit reached"
    assert clause("is it there?") == "is it there?"
