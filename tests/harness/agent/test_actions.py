"""Commands as an agent writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.agent.actions import read_command, write_command

_NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,12}", fullmatch=True)


@given(_NAMES, st.dictionaries(_NAMES, st.text(), max_size=4))
def test_what_is_written_is_read_back(name: str, arguments: dict[str, str]) -> None:
    action = read_command(write_command(name, arguments))
    assert (action.name, dict(action.arguments), action.error) == (name, arguments, "")


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("exit summary='done'", {"summary": "done"}),
        ('read_file file_path="it\'s.py"', {"file_path": "it's.py"}),
        ("go_to_line file_path=src/a.py line=12", {"file_path": "src/a.py", "line": "12"}),
        ("run_tests", {}),
        ("run_tests  \n", {}),
        (
            "edit file_path='a.py' instructions='''one\ntwo 'three' '''",
            {"file_path": "a.py", "instructions": "one\ntwo 'three' "},
        ),
        ("edit file_path='a.py' instructions='one\ntwo'", {"file_path": "a.py", "instructions": "one\ntwo"}),
        (r"edit file_path='a.py' instructions='it\'s\\'", {"file_path": "a.py", "instructions": "it's\\"}),
    ],
)
def test_values_are_literals_or_bare(text: str, arguments: dict[str, str]) -> None:
    action = read_command(text)
    assert action.error == ""
    assert action.arguments == arguments


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "begins with its name"),
        ("{'tool': 1}", "begins with its name"),
        ("read_file src/a.py", "not a keyword argument"),
        ("read_file file_path='a.py", "not closed"),
        ("read_file file_path='a.py' file_path='b.py'", "given twice"),
        ("read_file file_path=a'b", "stray quote"),
        ("read_file file_path=", "not closed"),
        (r"read_file file_path='\x'", "not a valid string literal"),
    ],
)
def test_a_malformed_command_says_what_is_wrong(text: str, message: str) -> None:
    assert message in read_command(text).error


@given(st.text())
def test_any_text_is_a_command_or_an_error(text: str) -> None:
    action = read_command(text)
    assert action.error or action.name
