"""A command or option that is gone names what to use instead; none of the names is a command of today."""

import pytest

from misstep.command_line import LINES
from misstep.removed import REMOVED, refuse_removed
from misstep_harness.errors import UsageError


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_name_is_answered_with_the_alternative(name: str) -> None:
    with pytest.raises(UsageError, match="was removed") as refused:
        refuse_removed([*name.split(), "RUN"])
    assert refused.value.advice == REMOVED[name]


@pytest.mark.parametrize("line", ["judge run infinite_loop@rule", "classify sessions --out run", "view FILE --id a"])
def test_todays_lines_are_let_through(line: str) -> None:
    refuse_removed(line.split())
    assert line.split()[0] in LINES
