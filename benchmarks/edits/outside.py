"""Run the appliers of others on cases, in an environment of their own: a JSON line in, a JSON line out.

It imports the standard library alone, as Misstep is not installed there. In: `tool`, `reply`, `path`, `file`. Out:
`file` (the text afterwards), `applied` (whether the tool said that it was), `said`.
"""

import json
import os
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

Tool = Callable[[str, str, Path], None]
"""Applies a reply about the file of a path in a folder; raises where it refuses."""


def _diff_of(reply: str) -> str:
    """Return what is in the first fence, as tools for files do not know of fences; all of it if there is none."""
    lines = reply.splitlines(keepends=True)
    fences = [place for place, line in enumerate(lines) if line.startswith(("```", "~~~"))]
    return "".join(lines[fences[0] + 1 : fences[1] if len(fences) > 1 else None]) if fences else reply


def _command(arguments: list[str], reply: str, folder: Path) -> str:
    home = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    ended = subprocess.run(arguments, input=_diff_of(reply).encode(), cwd=folder, env=home, capture_output=True)  # noqa: PLW1510
    if ended.returncode:
        raise ValueError((ended.stderr + ended.stdout).decode(errors="replace"))
    return ""


def git_apply(reply: str, _: str, folder: Path) -> None:
    """`git apply`."""
    _command(["git", "apply", "--whitespace=nowarn", "-"], reply, folder)


def patch(reply: str, _: str, folder: Path) -> None:
    """`patch -p1`, with its usual fuzz."""
    _command(["patch", "-p1", "--batch", "--no-backup-if-mismatch"], reply, folder)


def whatthepatch(reply: str, path: str, folder: Path) -> None:
    """`whatthepatch.parse_patch` and `apply_diff`."""
    import whatthepatch as library

    diffs = list(library.parse_patch(_diff_of(reply)))
    if not diffs:
        raise ValueError("no diff")
    for diff in diffs:
        name = folder / (diff.header.new_path or path).removeprefix("b/")
        text = name.read_bytes().decode()
        lines = library.apply_diff(diff, text)
        name.write_bytes(("\n".join(lines) + ("\n" if text.endswith("\n") else "")).encode())


def codex(reply: str, _: str, folder: Path) -> None:
    """`codex_apply_patch.apply_patch`."""
    import codex_apply_patch as library

    envelope = reply[max(0, reply.find("*** Begin Patch")) :]
    end = envelope.find("*** End Patch")
    os.chdir(folder)
    if not library.apply_patch(envelope[: end + 13] if end >= 0 else envelope):
        raise ValueError("an empty answer, which is how it refuses")


def aider(module: str, name: str) -> Tool:
    """Return one of Aider's coders, its `get_edits` and `apply_edits`."""

    def run(reply: str, path: str, folder: Path) -> None:
        coder = getattr(__import__(f"aider.coders.{module}", fromlist=[name]), name)()
        if name == "UnifiedDiffCoder":  # it takes paths as they are, and git's first line for part of a hunk
            reply = reply.replace(f"--- a/{path}", f"--- {path}").replace(f"+++ b/{path}", f"+++ {path}")
            reply = "".join(line for line in reply.splitlines(keepends=True) if not line.startswith("diff --git "))
        coder.root, coder.partial_response_content = folder, _diff_of(reply) if name == "PatchCoder" else reply
        coder.paths, coder.abs_fnames, coder.shell_commands = [path], {str(folder / path)}, []
        edits = coder.get_edits()
        if not edits:
            raise ValueError("no edits")
        coder.apply_edits(edits)

    return run


class _Files:
    """Aider's reading and writing of files, with its usual line ends."""

    def read_text(self, path: str) -> "str | None":
        return Path(path).read_text("utf-8") if Path(path).is_file() else None

    def write_text(self, path: str, text: str) -> None:
        Path(path).write_text(text, "utf-8")

    def tool_output(self, *_: object) -> None: ...

    tool_error = tool_warning = tool_output


class _Coder:
    """The little of Aider's base class that applying edits needs."""

    fence = ("```", "```")
    io = _Files()
    root: Path
    paths: "list[str]"

    def abs_root_path(self, path: str) -> str:
        return str(self.root / path)

    def get_rel_fname(self, path: str) -> str:
        return os.path.relpath(path, self.root)

    def get_inchat_relative_files(self) -> "list[str]":
        return self.paths


def stand_in_for_aider(sources: str) -> None:
    """Make Aider's coders importable without its dependencies: only the modules that apply edits are read."""
    for name, folder in (("aider", "aider"), ("aider.coders", "aider/coders")):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(sources) / folder)]
        sys.modules[name] = package
    for name, values in (
        ("aider.utils", {"GitTemporaryDirectory": None}),
        ("aider.dump", {"dump": print}),
        ("aider.coders.base_coder", {"Coder": _Coder}),
    ):
        module: Any = types.ModuleType(name)
        vars(module).update(values)
        sys.modules[name] = module
    sys.modules["aider"].utils = sys.modules["aider.utils"]  # type: ignore[attr-defined]


TOOLS: "dict[str, Tool]" = {
    "git apply": git_apply,
    "patch -p1": patch,
    "whatthepatch": whatthepatch,
    "codex-apply-patch": codex,
    "Aider, diff": aider("editblock_coder", "EditBlockCoder"),
    "Aider, udiff": aider("udiff_coder", "UnifiedDiffCoder"),
    "Aider, patch": aider("patch_coder", "PatchCoder"),
}


def main() -> None:
    """Answer each line of the input; what a tool prints goes nowhere."""
    stand_in_for_aider(sys.argv[1])
    answers, here = os.fdopen(os.dup(1), "w"), Path.cwd()
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    with tempfile.TemporaryDirectory() as top:
        for number, line in enumerate(sys.stdin):
            case = json.loads(line)
            folder = Path(top) / str(number) / "tree"
            file = folder / case["path"]
            file.parent.mkdir(parents=True)
            file.write_bytes(case["file"].encode())
            message = ""
            try:
                TOOLS[case["tool"]](case["reply"], case["path"], folder)
                applied = True
            except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever a tool raises is its way to refuse)
                applied, message = False, f"{type(error).__name__}: {error}"[:500]
            os.chdir(here)
            now = file.read_bytes().decode("utf-8", "replace") if file.is_file() else None
            outside = sorted(str(one.name) for one in folder.parent.iterdir() if one != folder)
            print(
                json.dumps({"file": now, "applied": applied, "said": message, "outside": outside}),
                file=answers,
                flush=True,
            )


if __name__ == "__main__":
    main()
