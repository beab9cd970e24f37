"""Make up coding-agent trajectories in ATIF, of the size and texture of real ones, by a seed, for timing."""

from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

STEPS = 30
_SYLLABLES = (
    *("ba", "ce", "dor", "fin", "gal", "hex", "jo", "kin"),
    *("lum", "mar", "nod", "pol", "qui", "ral", "sen", "tor"),
)
_VERBS = ("checks", "opens", "closes", "collects", "drops", "sorts", "merges", "splits", "counts", "renames")


class _Words(Struct):
    random: Random
    names: list[str]
    lines: list[str]
    sentences: list[str]

    def name(self) -> str:
        return self.random.choice(self.names)

    def code(self, lines: int) -> list[str]:
        return self.random.choices(self.lines, k=lines)

    def prose(self, sentences: int) -> str:
        return " ".join(self.random.choices(self.sentences, k=sentences))


def write_runs(path: Path, number: int, seed: int = 0) -> None:
    """Write `number` trajectories of some 30 steps and 60 kB each, one a line."""
    words = _words(Random(seed))  # noqa: S311 (made-up data)
    with path.open("wb") as stream:
        for run in range(number):
            stream.write(msgspec.json.encode(_run(words, f"made-up-{run:05}")) + b"\n")


def _words(random: Random) -> _Words:
    names = ["_".join("".join(random.choices(_SYLLABLES, k=2)) for _ in range(1 + draw % 2)) for draw in range(400)]
    return _Words(
        random,
        names,
        lines=[_code_line(random, *random.sample(names, 3)) for _ in range(4000)],
        sentences=[_sentence(random, *random.sample(names, 4)) for _ in range(1000)],
    )


def _code_line(random: Random, one: str, two: str, three: str) -> str:
    shapes = (
        f"{one} = self.{two}.get({three!r}, {random.randrange(100)})",
        f"if {one} is not None and {two}({three}) > {random.randrange(100)}:",
        f"for {one} in sorted({two}, key=lambda entry: entry.{three}):",
        f"return [{one}.{two} for {one} in {three} if {one}.ready]",
        f"raise ValueError(f'{one} has no {two}: {{{three}}}')",
        f"def {one}(self, {two}: int, {three}: str = '') -> None:",
    )
    return " " * 4 * random.randrange(1, 4) + random.choice(shapes)


def _sentence(random: Random, one: str, two: str, three: str, four: str) -> str:
    verbs = random.sample(_VERBS, 2)
    return f"The function {one} {verbs[0]} what {two} {verbs[1]}, so {three} should be looked at before {four}."


def _run(words: _Words, name: str) -> dict[str, object]:
    module = f"src/{words.name()}/{words.name()}.py"
    task = (
        f"`{words.name()}` in {module} {words.random.choice(_VERBS)} one entry too many. Mend it; keep the tests green."
    )
    steps: list[dict[str, object]] = [{"step_id": 1, "source": "user", "message": f"{task}\n{words.prose(8)}"}]
    for number in range(2, STEPS + 1 + words.random.randrange(-3, 4)):
        act = words.random.choices((_view, _search, _edit, _test), (4, 3, 2, 2))[0]
        tool, arguments, answer = act(words, module)
        call = {"tool_call_id": f"call_{number}", "function_name": tool, "arguments": arguments}
        steps.append(
            {
                "step_id": number,
                "timestamp": f"2026-01-01T00:{number:02}:00Z",
                "source": "agent",
                "model_name": "made-up-model",
                "message": words.prose(2),
                "reasoning_content": words.prose(3),
                "tool_calls": [call],
                "observation": {"results": [{"source_call_id": call["tool_call_id"], "content": answer}]},
                "metrics": {"prompt_tokens": 900 * number, "completion_tokens": 120, "cost_usd": 0.01},
            }
        )
    agent = {"name": "made-up-agent", "version": "1", "model_name": "made-up-model"}
    return {"schema_version": "ATIF-v1.4", "session_id": name, "agent": agent, "steps": steps}


def _view(words: _Words, module: str) -> tuple[str, dict[str, object], str]:
    first = words.random.randrange(1, 400)
    lines = (f"{number:6}\t{line}" for number, line in enumerate(words.code(24), start=first))
    return "view", {"path": module, "view_range": [first, first + 24]}, "\n".join(lines)


def _search(words: _Words, module: str) -> tuple[str, dict[str, object], str]:
    hits = (f"src/{words.name()}/{words.name()}.py:{words.random.randrange(900)}:{line}" for line in words.code(10))
    return "bash", {"command": f"grep -rn '{words.name()}' {Path(module).parent}"}, "\n".join(hits)


def _edit(words: _Words, module: str) -> tuple[str, dict[str, object], str]:
    before, after = words.code(2)
    shown = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(words.code(10), start=60))
    arguments: dict[str, object] = {"command": "str_replace", "path": module, "old_str": before, "new_str": after}
    return "str_replace_editor", arguments, f"The file {module} has been edited. Here is a part of it:\n{shown}"


def _test(words: _Words, module: str) -> tuple[str, dict[str, object], str]:
    random, file = words.random, f"tests/test_{words.name()}.py"
    failing = random.randrange(3)
    lines = [f"{file} {'.' * random.randrange(5, 40)}"]
    for _ in range(failing):
        lines += [f"_____ test_{words.name()} _____", *words.code(8)]
        lines.append(f"E   AssertionError: assert {random.randrange(99)} == {random.randrange(99)}")
    lines.append(f"{failing} failed, {random.randrange(5, 60)} passed in {random.random():.2f}s")
    return "bash", {"command": f"python -m pytest -q {file} -k {Path(module).stem}"}, "\n".join(lines)
