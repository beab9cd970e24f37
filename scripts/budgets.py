"""Write what the house uses now into `budgets.toml`: `python -m scripts.budgets`. Numbers that rise need a reason."""

from collections import Counter
from pathlib import PurePosixPath

from tests.layout.sources import MODULES, ROOT, WITHOUT_TESTS, text_of, tree_of
from tests.layout.test_budgets import BUDGETS, logic_lines, room_of, shared_class_names, wide_functions

HEAD = """\
# What the house may use. A layout test fails above these numbers; raise one in a commit of its own that says why.
# A logic line is not blank, a comment, a docstring, an import or part of a module's literal of four lines or more.
"""


def main() -> None:
    """Write the numbers of today."""
    logic: Counter[str] = Counter()
    for path in WITHOUT_TESTS:
        logic[room_of(path)] += logic_lines(text_of(path), tree_of(path))
    files = Counter(str(PurePosixPath(path).parent) for path in MODULES)
    limit = BUDGETS["files"]["folder"]
    wider = {folder: n for folder, n in sorted(files.items()) if n > limit}
    tests = (ROOT / "tests").rglob("*.py")
    text = f"""{HEAD}
[total]
logic = {sum(logic.values())}
lines = {sum(text_of(path).count(chr(10)) for path in WITHOUT_TESTS)}
tests = {sum(file.read_text("utf-8").count(chr(10)) for file in tests)}

[parameters]
function = {BUDGETS["parameters"]["function"]}
command = {BUDGETS["parameters"]["command"]}
wider_functions = {len(list(wide_functions()))}

[names]
shared_classes = {len(shared_class_names())}

[loaded]
{"".join(f"{command} = {n}{chr(10)}" for command, n in BUDGETS["loaded"].items())}
[files]
folder = {limit}

[files.wider]
{"".join(f'"{folder}" = {n}{chr(10)}' for folder, n in wider.items())}
[logic]
{"".join(f'"{room}" = {n}{chr(10)}' for room, n in sorted(logic.items()))}"""
    (ROOT / "budgets.toml").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
