"""Make every attempt in every sandbox of this machine and write `docs/sandbox.md`: `python -m benchmarks escapes`."""

import platform
import sys
import time
from pathlib import Path

from benchmarks.escapes.attempts import ATTEMPTS, LIMITS
from benchmarks.escapes.trying import Outcome, attempt
from misstep_harness.errors import SandboxMissing
from misstep_harness.workspace import find_sandbox
from misstep_harness.workspace.capabilities import landlock_version
from misstep_harness.workspace.finding import tried

PAGE = Path(__file__).parents[2] / "docs" / "sandbox.md"
NAMES = ("bubblewrap", "sandlock", "unsandboxed")

HEAD = """# What each sandbox stops

This page is written by `python -m benchmarks escapes`, which makes every attempt in every sandbox of the machine. An
attempt counts as stopped if the program began, reached nothing and ended as the table says, and if no process, mount or
file was left and the base was untouched. `tests/harness/workspace/test_escapes.py` holds every attempt to that.

- **bubblewrap** gives namespaces of its own: users, processes, network, mounts, shared memory, host name. Of the
  machine's files a command sees the system's programs and what it was given. A filter refuses key rings, virtual
  machine sockets and other calls that no namespace keeps apart.
- **sandlock** (Landlock and seccomp; `pip install 'misstep[sandlock]'`) is for machines that forbid user namespaces. A
  command sees the workspace at its path on the machine; it cannot use the network or list processes.
- **unsandboxed** has the kernel's limits and the supervision only, and must be asked for by name. Attempts are made
  there only where they do no harm; they show that the sandbox is what stops them.

In all three, memory, disk, output and time are watched from outside, and what a command leaves behind is ended.

## What is shown

Of the machine's files a command sees the system's folders (`/usr` and what leads to it) and, read-only:

- the installation of an interpreter: its `bin`, `lib`, `lib64` and `libexec`, in the folder that the interpreter itself
  names when it is asked. It is asked only where the user's programs put interpreters (pyenv, uv, conda, nvm and their
  like, `/opt`, the search path) or where the user names it, and never inside a checkout;
- an environment: of one outside the checkout the same parts, of one in the checkout its folder and `node_modules`;
- a program of the search path that a target's line begins with: its file alone;
- the folders that the user names by `--show DIR`, on each command that runs code.

A checkout, a case, a target and their links cannot ask for more: what leads elsewhere is refused, with the option that
would show it. `/`, a home, a folder that holds one or the checkout, `/proc`, `/sys`, `/dev` and `/run` are never shown.
Before each command every place is looked at again. `misstep doctor REPO` lists each place, and `run.toml` as `shown`.

A socket or a pipe in a folder that is shown leads to nobody: bubblewrap shows folders as layers, or covers each where
the kernel makes no layers; sandlock refuses the call. The folders of the system are shown as they are.
`tests/families/hostile.py` has what was tried.
"""

LIMITATIONS = """
## What remains

- The base is copied when a workspace is opened, without a copy of the bytes where the file system has clones (Btrfs,
  XFS). It must not change while the workspace is open.
- `/tmp` is new for every command, and takes at most 256 MiB, which do not count as its memory.
- The path of the workspace on the machine shows in `/proc/self/mountinfo`; its name is drawn at random.
- Files without a name are not counted in a process that hides its open files from its own user.
- As root, `sandlock` shows only what its user may reach: not an interpreter under root's home.
- `sandlock` sets no limit on the memory of several processes together; the supervision does.
"""


def main() -> None:
    """Print each attempt as it is made; write the page. The exit code is 1 if one succeeded in a sandbox."""
    rows: dict[str, dict[str, Outcome | None]] = {name: {} for name in ATTEMPTS}
    for sandbox_name in NAMES:
        try:
            sandbox = find_sandbox(sandbox_name)
        except SandboxMissing as error:
            print(error)
            continue
        for name, one in ATTEMPTS.items():
            possible = sandbox_name != "unsandboxed" or one.unsandboxed
            started = time.perf_counter()
            rows[name][sandbox_name] = outcome = attempt(name, sandbox) if possible else None
            if outcome is not None:
                ending = "stopped" if outcome.stopped else "; ".join(outcome.escaped)
                print(f"{sandbox_name:12} {name:22} {time.perf_counter() - started:5.1f} s  {ending[:200]}", flush=True)
    PAGE.write_text(page(rows))
    escaped = [1 for row in rows.values() for name in NAMES[:2] if (one := row.get(name)) and not one.stopped]
    sys.exit(1 if escaped else 0)


def page(rows: dict[str, dict[str, Outcome | None]]) -> str:
    """Return the page as Markdown."""
    used = [name for name in NAMES if any(name in row for row in rows.values())]
    lines = [HEAD, f"## {len(ATTEMPTS)} attempts", "", f"{_machine()}", ""]
    lines += ["| attempt | " + " | ".join(used) + " |", "|---|" + "---|" * len(used)]
    for name, row in rows.items():
        lines.append(f"| {ATTEMPTS[name].what} | " + " | ".join(_cell(row.get(one)) for one in used) + " |")
    return "\n".join([*lines, LIMITATIONS])


def _machine() -> str:
    kernel = ".".join(platform.release().split(".")[:2])
    versions = ", ".join(f"{one.name} {one.version}" for one in tried() if one.works)
    limits = f"{LIMITS.memory_mb} MiB of memory, {LIMITS.processes} processes, {LIMITS.disk_mb} MiB of disk"
    return f"Made on Linux {kernel} with {versions} and Landlock {landlock_version()}; limits: {limits}."


def _cell(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not made"
    if not outcome.stopped:
        return "**succeeds**"
    ended = outcome.finished.ended
    return f"stopped by the limit on {ended}" if ended in ("memory", "disk", "output", "time") else "stopped"


if __name__ == "__main__":
    main()
