"""Whether a patch changes tests: a weakened test passes as well as a mended program."""

import re
from collections.abc import Iterable

from harness.repair_attempt import Signal

_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|fixtures?|__snapshots__)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_test|[^/]*_spec|conftest|[^/.]*[._-](?:test|spec))\.[A-Za-z]+$"
    r"|(?:^|/)[^/]*Tests?\.(?:java|kt|scala|cs|php|swift)$"
    r"|\.snap$"
    r"|(?:^|/)(?:pytest\.ini|tox\.ini|jest\.config\.[a-z]+)$"
)


def is_test_file(path: str) -> bool:
    """Whether a file belongs to the tests, by its place or its name in the habits of the usual runners."""
    return _TEST.search(path) is not None


def check(changed: Iterable[str], oracle: Iterable[str] = ()) -> Signal:
    """A flag on a patch that changes tests; those of the oracle are tests whatever they are called."""
    own = {test.partition("::")[0] for test in oracle}
    tests = sorted(path for path in changed if is_test_file(path) or path in own)
    said = f"changes tests: {', '.join(tests)}" if tests else "changes no test"
    return Signal("test_files", not tests, said)
