"""A plug-in of pytest: the marker `misstep_gate` holds a judge, or agents, to limits before a test.

pytest loads it in every project of an environment with Misstep: it imports nothing until a test has the marker.
"""

from typing import Any

_MARKER = "misstep_gate"
_HELP = "fail unless the figures of a run or a table keep these limits; as misstep.assert_judge."


def pytest_configure(config: Any) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", f"{_MARKER}(of, *limits, undecided=None, …): {_HELP}")


def pytest_runtest_call(item: Any) -> None:
    """Hold the limits of a test's markers, from the outermost; what they show is in JUnit as properties of the test."""
    __tracebackhide__ = True  # pytest shows the figure alone
    for marker in reversed(list(item.iter_markers(_MARKER))):
        from misstep import assert_judge

        item.user_properties += [(_MARKER, line) for line in assert_judge(*marker.args, **marker.kwargs)]
