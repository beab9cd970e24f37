"""Localisation: by what tests execute, and by what a failure's text names."""

from misstep_harness.repair.search.localisation import Observed, by_spectrum, by_text
from misstep_harness.repair.search.scope import ProgramSource

TEXT = """\
def one(a):
    if a:
        return 1
    return two(a)


def two(a):
    return a + 1


def far(a):
    return a
"""
SOURCES = {"pkg/app.py": ProgramSource("pkg/app.py", TEXT)}


def test_a_line_that_only_failing_tests_execute_is_the_most_suspicious() -> None:
    observed = [
        Observed("t::a", passed=False, lines={"pkg/app.py": [2, 3]}),
        Observed("t::b", passed=True, lines={"pkg/app.py": [2, 4, 8]}),
    ]
    result = by_spectrum(observed, SOURCES)
    assert [(each.line, each.score) for each in result] == [(3, 1.0), (2, 0.707107)]
    assert result[0].reason == "1 of 1 failing and 0 of 1 passing tests execute it"


def test_a_failing_test_beside_the_oracle_says_nothing() -> None:
    observed = [
        Observed("t::a", passed=False, lines={"pkg/app.py": [2]}),
        Observed("t::b", passed=False, oracle=False, lines={"pkg/app.py": [4]}),
    ]
    assert [each.line for each in by_spectrum(observed, SOURCES)] == [2]


def test_the_end_of_a_trace_decides_among_equals() -> None:
    text = "pkg/app.py:4: in one\npkg/app.py:8: in two\nE   TypeError"
    observed = [Observed("t::a", passed=False, said=text, lines={"pkg/app.py": [2, 4, 8]})]
    assert [each.line for each in by_spectrum(observed, SOURCES)] == [8, 4, 2]


def test_without_tests_the_last_line_of_a_trace_comes_first_then_its_function() -> None:
    trace = 'Traceback:\n  File "/ws/pkg/app.py", line 4, in one\n  File "/ws/pkg/app.py", line 8, in two\nTypeError'
    result = by_text(trace, (), SOURCES)
    assert [each.line for each in result][:2] == [8, 4]
    assert {each.line for each in result} == {2, 3, 4, 8}


def test_without_a_trace_the_functions_that_the_failure_or_the_tests_call_are_suspicious() -> None:
    named = by_text("assert one(0) == 2", (), SOURCES)
    assert {each.line for each in named if each.score == 0.6} == {2, 3, 4}
    tested = by_text("assert False", ("from pkg.app import one\n\ndef test_one():\n    assert one(0) == 2\n",), SOURCES)
    assert {each.line for each in tested if each.score == 0.45} == {2, 3, 4}
    assert {each.line for each in tested if each.score == 0.3} == {8}
    assert 12 not in {each.line for each in tested}


def test_a_text_that_names_nothing_of_the_program_gives_nothing() -> None:
    assert by_text("it is broken", (), SOURCES) == []
