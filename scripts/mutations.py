"""Break the code in ten rooms, one place each, drawn by a seed, and run the tests: each break must be noticed.

python -m scripts.mutations 2026
"""

import ast
import copy
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOMS = 10
WIDER = ("tests/families", "tests/misstep", "tests/analysis")
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def places(tree: ast.Module) -> Iterator[tuple[str, ast.stmt | ast.expr, ast.stmt | ast.expr]]:
    """List what can be broken: the kind of break, the node, and the node after it."""
    in_text = {inner for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node in in_text:  # the parser gives no exact place inside an f-string
            continue
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            broken = copy.deepcopy(node)
            broken.ops = [OPPOSITE[type(node.ops[0])]()]
            yield "comparison", node, broken
        if isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise) and not node.orelse:
            yield "dropped check", node, ast.copy_location(ast.Pass(), node)
        swaps = isinstance(node, ast.Call) and not any(isinstance(one, ast.Starred) for one in node.args)
        if isinstance(node, ast.Call) and swaps and len(node.args) == 2:
            swapped = copy.deepcopy(node)
            swapped.args.reverse()
            yield "swapped arguments", node, swapped


def with_break(text: str, node: ast.stmt | ast.expr, broken: ast.stmt | ast.expr) -> str:
    """Return the text of a module with one node replaced."""
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: (node.end_lineno or 0) - 1])) + (node.end_col_offset or 0)
    content = text.encode()
    return (content[:start] + f"({ast.unparse(broken)})".encode() + content[end:]).decode().replace("(pass)", "pass")


def noticed(file: Path) -> str:
    """Return the tests that fail on the tree as it is; empty if none does."""
    parts = [part for part in file.parent.parts if part not in ("misstep_harness", "misstep_analysis")]
    own = next(Path("tests", *parts[:n]) for n in range(len(parts), 0, -1) if Path("tests", *parts[:n]).is_dir())
    for tests in ([str(own)], WIDER):
        line = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        done = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603
        failures = [one for one in done.stdout.splitlines() if one.startswith(("FAILED", "ERROR"))]
        if done.returncode:
            return failures[0] if failures else done.stdout[-200:]
    return ""


def main(seed: int) -> None:
    """Break ten rooms one after the other, and print what noticed each."""
    draw = random.Random(seed)  # noqa: S311
    rooms = sorted(
        path
        for top in ("harness/misstep_harness", "analysis/misstep_analysis")
        for path in Path(top).iterdir()
        if (path / "__init__.py").is_file()
    )
    for room in draw.sample([*rooms, Path("misstep")], ROOMS):
        file = draw.choice(
            [one for one in sorted(room.rglob("*.py")) if list(places(ast.parse(one.read_text("utf-8"))))]
        )
        text = file.read_text("utf-8")
        kind, node, broken = draw.choice(list(places(ast.parse(text))))
        try:
            file.write_text(with_break(text, node, broken), "utf-8")
            print(f"{file}:{node.lineno} {kind}: {noticed(file) or 'NOT NOTICED'}", flush=True)  # noqa: T201
        finally:
            file.write_text(text, "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]))
