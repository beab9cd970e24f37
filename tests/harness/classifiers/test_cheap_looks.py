"""A cheap look that is taken before a costly one passes whatever the costly one would find."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from misstep_harness.classifiers import failures, infinite_loop, oscillation
from misstep_harness.classifiers.history import Act, History
from misstep_harness.classifiers.prose import has
from misstep_harness.classifiers.shell import commands_of, ends_of_names, without_quotes
from tests.harness.classifiers.building import bash, run

PIECES = (
    "grep", "g\"re\"p", "'grep'", "/usr/bin/gr\\ep", "sudo", "env", "A=1", "bash -c 'ls x; rm y'", "timeout 3", "cat",
    "|", "&&", ";", "(", ")", "$(ls)", "> out", "2>&1", "<<'E'\nrm\nE\n", "edit 3:4\nx\nend_of_edit", "\\\n", "\0", "\n", "-q", "\"a b\"",
    "git apply", "apply_patch", "str_replace_editor", "'", '"',
)  # fmt: skip
lines = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(("", " "))), max_size=7).map(
    lambda parts: "".join(piece + space for piece, space in parts)
)

ANSWERS = (
    "grep", "x", "/bin/rm", "a/b", "bash", ":", ": ", " ", "\n", "error", "Error", "ValueError", "fatal", "not found", "invalid option",
    "No such file", "output: ", "E   assert 1", "FAILED a", "--- FAIL: b", "✗ c", "panicked at d", "error[E1]", "error TS2: x",
    "TypeError: y", "SomeException", "src/a.py:3", "timed out", "(none)", "failed", "can't", "3 failed", "usage: ", "Usage: grep",
)  # fmt: skip
answers = st.lists(st.sampled_from(ANSWERS), max_size=8).map("".join)


def act(line: str, answer: str = "") -> Act:
    (only,) = History(run(bash(line, answer))).acts
    return only


@given(lines)
def test_the_name_of_each_program_ends_with_a_piece_that_is_had_without_taking_the_line_apart(line: str) -> None:
    one = act(line)
    for command in commands_of(one):
        name = without_quotes(command.program)
        assert name in without_quotes(line)
        assert not re.fullmatch(r"[\w-]+", name) or name.endswith(tuple(ends_of_names(one)))


@given(lines, answers)
@example("> out", ":invalid option")
def test_what_a_shells_answer_complains_of_is_found_with_and_without_the_cheap_look(line: str, answer: str) -> None:
    looked = failures.own_failure(act(line, answer)), oscillation._complaint(act(line, answer))
    looks = (failures, "_may_speak"), (oscillation, "_may_speak")
    kept = [getattr(module, name) for module, name in looks]
    try:
        for module, name in looks:
            setattr(module, name, lambda *_: True)
        assert (failures.own_failure(act(line, answer)), oscillation._complaint(act(line, answer))) == looked
    finally:
        for (module, name), look in zip(looks, kept, strict=True):
            setattr(module, name, look)


@given(answers)
def test_every_fault_and_every_line_of_an_error_has_one_of_the_pieces(text: str) -> None:
    assert not oscillation._FAULT.search(text) or has(text.lower(), oscillation._FAULTS)
    assert not any(map(oscillation._ERROR_LINE.match, text.split("\n"))) or has(text, oscillation._ERROR_WORDS)
    opened = any(oscillation._OPENS.match(line.strip()) for line in text.split("\n"))
    assert not opened or oscillation._may_open(text.lower())


sentences = st.lists(
    st.sampled_from(("load", "the", "file", "a.py", "again", "twice", "Case", "runs", "now", ".", "\n", "file 3")),
    max_size=30,
).map(" ".join)


@given(sentences, sentences)
def test_a_text_that_says_an_earlier_one_again_shares_its_words(one: str, other: str) -> None:
    new, old = (infinite_loop.speech("agent", text, 0) for text in (one, other))
    again = infinite_loop._says_again(new.sentences, old.sentences)
    assert not again or infinite_loop._may_say_again(new, old)
