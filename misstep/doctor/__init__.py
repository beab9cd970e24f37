"""`misstep doctor`: what this machine can do, and what to install for the rest."""

import shutil
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from misstep.doctor.plugin_list import plugin_lines
from misstep.doctor.plugins import installed_plugins
from misstep.options.common import Json, command_app
from misstep.options.sandbox import Show
from misstep_analysis.tables.text import aligned
from misstep_harness.catalogue import named_data_folder
from misstep_harness.clients.local_server import weights
from misstep_harness.errors import MisstepError, UsageError
from misstep_harness.escaping import plain
from misstep_harness.observer.hook.settings import BusyMachine, installed_hooks, settings_files, tried_hook
from misstep_harness.workspace import Sandbox, find_sandbox
from misstep_harness.workspace.capabilities import Capability, SandboxReport, sandbox_report

app = command_app()
_MOST_BUILT = 4

Python = Annotated[
    Path | None,
    typer.Option(metavar="VENV", help="Its virtual environment or interpreter (.venv, venv or the active one)."),
]


@app.command()
def doctor(
    repository: Annotated[
        Path | None, typer.Argument(metavar="[REPO]", help="A git repository whose tests are run once.")
    ] = None,
    test_command: Annotated[str, typer.Option(metavar="LINE", help="Shell line that runs the tests of REPO.")] = "",
    python: Python = None,
    sandbox: Annotated[str, typer.Option(help="Sandbox that runs them: auto, bubblewrap or sandlock.")] = "auto",
    show: Show = None,
    json: Json = False,
) -> None:
    """Report what this machine can do, and name the command that installs each missing part.

    Every sandbox is tried by a real start, and what installed packages add is loaded. The exit code is 3 if code under
    repair cannot run in a sandbox, and 1 if a plug-in cannot be used. With REPO and --test-command it says which
    interpreter and which installed folders the sandbox shows, and runs the tests of the last commit once; the exit code
    is 1 if none was seen that lacks no package.
    """
    if repository is not None:
        _try_project(repository, test_command, python, find_sandbox(sandbox).showing(show or ()), json=json)
        return
    if test_command or python is not None or show or sandbox != "auto":
        raise UsageError("an option about REPO without REPO", "Name the repository: `misstep doctor REPO …`.")
    report = sandbox_report()
    capabilities = (*report.capabilities, _model(), _browser(), _data(), _hook())
    plugins = installed_plugins()
    document = {"sandbox": report.sandbox, "tried": report.tried}
    as_json = msgspec.json.encode(document | {"capabilities": capabilities, "plugins": plugins}).decode()
    print(as_json if json else "\n".join([_as_text(report, capabilities), *plugin_lines(plugins)]))
    if report.sandbox is None:
        raise typer.Exit(3)
    if any(one.error is not None for one in plugins):
        raise typer.Exit(1)


def _try_project(repository: Path, command: str, python: Path | None, sandbox: Sandbox, *, json: bool) -> None:
    from misstep_harness.repair.failure_bot.reproduce import try_project

    if not command:
        raise UsageError("a repository without --test-command", "Give it, as --test-command 'python -m pytest'.")
    trial = try_project(repository, command, python, sandbox)
    report = trial.report
    if json:
        print(msgspec.json.encode(trial).decode())
    else:
        ran = f"{report.ran - len(report.failed)} passed, {len(report.failed)} failed" if report.ran is not None else ""
        rows = [("interpreter", plain(trial.python))]
        rows += [("shown, read-only", plain(path)) for path in (*trial.shown, *trial.mounts)]
        if trial.built:
            rest = f" and {len(trial.built) - _MOST_BUILT} more" if len(trial.built) > _MOST_BUILT else ""
            rows.append(("built, not committed", ", ".join(map(plain, trial.built[:_MOST_BUILT])) + rest))
        rows.append(("tests", ran or f"ended with exit code {report.exit_code}; its output names no tests"))
        print("\n".join(aligned(rows, to_left=(0, 1))))
        if not report.ran:
            output = "\n".join(map(plain, report.output.strip()[-1500:].splitlines()))
            print(f"\nNo test was seen. The last lines of `{plain(command)}`:\n{output}")
        if not trial.works and not trial.lacks:
            print("If a package is missing, install it into the project's environment (`npm ci`), or name another.")
        for lack in trial.lacks:
            print(f"- {plain(lack)}")
    if not trial.works:
        raise typer.Exit(1)


def _model() -> Capability:
    try:
        name = weights().name
    except MisstepError as error:
        return Capability("local model", False, error.found, "tests do not ask a real model", error.advice)
    return Capability("local model", True, name)


def _browser() -> Capability:
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    without, advice = "pages are not tested in a browser", "Install the system's package chromium."
    return Capability("Chromium", bool(program), program or "not found", *(() if program else (without, advice)))


def _data() -> Capability:
    without, advice = "figures on public data are left out", "Set MISSTEP_DATA, or run `misstep datasets fetch NAME`."
    try:
        folder = named_data_folder()
    except MisstepError as error:
        return Capability("data folder", False, error.found, without, advice)
    if folder is None:
        return Capability("data folder", False, "MISSTEP_DATA is not set", without, advice)
    return Capability("data folder", True, str(folder))


def _hook() -> Capability:
    without, advice = "a running agent is not watched", "`misstep observe --install` puts it into the settings."
    installed = list(installed_hooks(settings_files(Path.cwd())))
    if not installed:
        return Capability("observer's hook", False, "in no settings of a coding agent", without, advice)
    events = ", ".join(dict.fromkeys(one.event for one in installed))
    where = f"{', '.join(dict.fromkeys(str(one.file) for one in installed))} ({events})"
    lacking = next((one.command for one in installed if one.program is None), None)
    if lacking is not None:
        return Capability("observer's hook", False, f"in {where}, but program {lacking!r} is missing", without, advice)
    try:
        seconds = tried_hook()
    except BusyMachine as error:
        return Capability("observer's hook", True, f"in {where}, but not tried: {error.found}", without, error.advice)
    except MisstepError as error:
        return Capability("observer's hook", False, f"in {where}, but {error.found}", without, "Report it as a fault.")
    watched = "sub-agents are watched where they have transcripts of their own"
    return Capability("observer's hook", True, f"in {where}, answers in {1000 * seconds:.0f} ms; {watched}")


def _as_text(report: SandboxReport, capabilities: tuple[Capability, ...]) -> str:
    runs = f"runs in the sandbox {report.sandbox}." if report.sandbox else "cannot run in a sandbox on this machine."
    head = f"Code under repair {runs}"
    rows = [("yes" if one.works else "no", one.name, plain(one.found)) for one in capabilities]
    missing = [one for one in capabilities if not one.works and one.without]
    lines = [head, "", *aligned(rows, to_left=(0, 1, 2))]
    if missing:
        lines += ["", "What is missing:"]
        lines += [f"- {one.name}: {plain(one.without)}. {plain(one.advice)}".rstrip() for one in missing]
    return "\n".join(lines)
