"""What the output of tests says of a failure: which tests failed, what was raised, what was missing, which values."""

import re

from msgspec import Struct

from misstep_harness.workspace.suite.output import from_output

_FAILED = re.compile(
    r"^(?:FAIL|ERROR): (?P<unittest>\S+(?: \([\w.]+\))?)(?: [\[(].*)?$"
    r"|^(?:(?:SUB)?FAILED(?:\(.*?\)|\[.*?\])? (?P<pytest>[^\s(]\S*(?:::.*?)?)"
    r"|ERROR (?P<broken>\S+(?:\.py|::.*?)))(?: - .*)?$"
    r"|^test (?P<cargo>\S.*) \.\.\. FAILED$|^ {4,24}FAIL \[ *[\d.]+s\] (?P<nextest>.+)$"
    r"|^ {0,9}\d+/\d+ Test +#\d+: (?P<ctest>\S+) \.*\*{3}(?!Skipped|Not Run \(Dis)|^rspec (?P<rspec>\S+:\d+|'[^']+') #"
    r"|^ {2}\d+\) (?P<mocha>\S.*\n {7}\S.*):$|^\d+\) (?P<phpunit>[\w\\]+::\S.*)$"
    r"|^ {1,4}Failed (?P<dotnet>\S.*) \[[^\]]+\]$",
    re.MULTILINE,
)
"""How programs that count their tests in no other way name one that failed."""

_RAISED = re.compile(
    r"^(?:E {1,8})?([A-Za-z_][\w.]{0,120}(?:Error|Exception|Interrupt|Exit|Expired|Timeout))(?::[ ]?(.*))?$",
    re.MULTILINE,
)
_ASSERTED = re.compile(r"^E {3,8}(assert .*)$", re.MULTILINE)
_PLACE = re.compile(r'^ {2}File "([^"\n]{1,300})", line (\d{1,7})|^([\w./-]{1,300}\.py):(\d{1,7}): ', re.MULTILINE)
_QUOTED = re.compile(r"'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"")
_NO_PROGRAM = re.compile(r"(?:^|[: ])([\w./+-]{1,100}): (?:command )?not found", re.MULTILINE)
_NO_FILE = re.compile(r"(?:^|[: ])'?([\w./+-]{1,200})'?: No such file or directory", re.MULTILINE)
_GIVEN = re.compile(r"\b(?:got|found|actual|was)\b:? ")
_WANTED = re.compile(r"\b(?:expected|wanted|want|instead of)\b:? ")
_LONGEST = 4000
_NO_FILES = {"ModuleNotFoundError", "ImportError", "FileNotFoundError", "NotADirectoryError"}
_MISSING = _NO_FILES | {"AttributeError", "KeyError", "NameError", "OperationalError"}
_MOST = 20


class TestFailure(Struct, frozen=True):
    """How tests failed.

    - `missing`: What was looked for and was not there: modules, files, programs, names.
    - `values`: Pairs of values that should have been the same, the wanted one first; which one that is, is a guess
      if only a sign is between them.
    """

    tests: frozenset[str] = frozenset()
    raised: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    places: tuple[tuple[str, int], ...] = ()

    @property
    def asserted(self) -> bool:
        """Return whether tests ran and failed by an assertion alone; most programs give such a failure no name."""
        return bool(self.raised or self.tests) and all(name.endswith("AssertionError") for name, _ in self.raised)


def read_failure(output: str) -> TestFailure:
    """Return how tests failed, by their output."""
    raised = [(match[1].rpartition(".")[2], (match[2] or "").strip()) for match in _RAISED.finditer(output)]
    raised += [("AssertionError", match[1]) for match in _ASSERTED.finditer(output)]
    raised = list(dict.fromkeys(raised))[:_MOST]
    missing = [(kind, name) for kind, message in raised if kind in _MISSING for name in _names(message)[-1:]]
    missing += [("", match[1]) for pattern in (_NO_PROGRAM, _NO_FILE) for match in pattern.finditer(output)]
    files = [name for kind, name in missing if kind in _NO_FILES or not kind]
    counts = from_output(output)
    names = {test.id for test in counts.failed} if counts is not None else set()
    names = names or {" ".join(match[match.lastgroup or 0].split()) for match in _FAILED.finditer(output)}
    values = [pair for kind, message in raised if kind == "AssertionError" and (pair := _pair(message))]
    places = [(match[1] or match[3], int(match[2] or match[4])) for match in _PLACE.finditer(output)]
    return TestFailure(
        frozenset(names),
        tuple(raised),
        tuple(dict.fromkeys(name for _, name in missing))[:_MOST],
        tuple(dict.fromkeys(files))[:_MOST],
        tuple(values)[:_MOST],
        tuple(dict.fromkeys(place for place in places if "test" in place[0])),
    )


def _names(message: str) -> list[str]:
    return [match[1] or match[2] for match in _QUOTED.finditer(message)]


def _pair(message: str) -> tuple[str, str] | None:
    message = message.partition("\n")[0][:_LONGEST]
    actual, wanted = _GIVEN.search(message), _WANTED.search(message)
    if actual is not None and wanted is not None:
        first, second = sorted((actual, wanted), key=re.Match.start)
        values = (_value(message[first.end() : second.start()]), _value(message[second.end() :]))
        return values if first is wanted else values[::-1]
    left, sign, right = message.removeprefix("assert ").partition(" != ")
    if not sign:
        left, sign, right = message.removeprefix("assert ").partition(" == ")
    return (_value(right.partition(" : ")[0]), _value(left)) if sign and left and right else None


def _value(text: str) -> str:
    return text.strip().removesuffix("but").strip(" ,;.:")


def last_lines(output: str, count: int = 6) -> str:
    """Return the last lines of an output that say something."""
    lines = [line for line in output.splitlines() if line.strip()]
    return "\n".join(line[:300] for line in lines[-count:])


_OFFLINE = re.compile(
    r"could not (?:resolve|connect)|failed to fetch|name resolution|name or service not known|no such host|eai_again"
    r"|network is unreachable|connection refused",
    re.IGNORECASE,
)
_LACKS = re.compile(r"\b(?:command )?not found\b|no such file or directory|no module named", re.IGNORECASE)


def lacks_network(output: str) -> bool:
    """Return whether a program says that it reached nobody."""
    return _OFFLINE.search(output) is not None


def lacks_tools(output: str) -> bool:
    """Return whether tests did not begin, as what they need was not there: an image has no network to fetch it."""
    failure = read_failure(output)
    began = from_output(output) is not None or failure.tests or failure.asserted
    return not began and (_LACKS.search(output) is not None or lacks_network(output))
