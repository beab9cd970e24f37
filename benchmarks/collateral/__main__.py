"""Plant damage in runs that passed and look for it: `python -m benchmarks collateral CASES [--seed 0]`.

CASES is a folder of `misstep generate triage-cases`. Each run that passed is looked at as it is, for false alarms, and
once for each way of damage, whose step is put at a drawn place of the run.
"""

import argparse
import shutil
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct, structs

from misstep.harness.records.attribution import DamageKind
from misstep.harness.records.triage_case import TriageCase, read_triage_cases
from misstep.harness.trajectory import Step, ToolCall, ToolResult
from misstep.harness.triage.passes.collateral import collateral
from misstep.harness.triage.texts import FilesOfCase, TextsOfCase


class _Damage(Struct, frozen=True):
    kind: DamageKind
    becomes: str
    lines: tuple[str, ...]


class _Ways(Struct, frozen=True):
    files: tuple[str, ...]
    places: tuple[str, ...]
    things: tuple[str, ...]
    damage: tuple[_Damage, ...]


def _kinds_shown(case: TriageCase, line: str, random: Random) -> list[set[str]]:
    """Return the kinds of damage that texts show, and those that files show, of a run with one more step."""
    kinds = []
    for access in (TextsOfCase, FilesOfCase):
        run = access(case).trajectory
        if run is None:
            return []
        step = Step("agent", calls=(ToolCall("bash", {"command": line}),), results=(ToolResult("", exit_code=0),))
        place = random.randint(1, len(run.steps))
        steps = (*run.steps[:place], step, *run.steps[place:]) if line else run.steps
        kinds.append({one.kind for one in collateral(access(case, structs.replace(run, steps=steps))) or ()})
    return kinds


def _left(file: Path, becomes: str) -> None:
    if becomes == "gone":
        file.unlink()
    elif becomes == "changed":
        file.write_text("other\n")
    elif becomes == "open":
        file.chmod(0o666)


def main() -> None:
    """Print how often each kind is seen, and how often a run that broke nothing is flagged."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks collateral")
    parser.add_argument("cases", type=Path, help="A folder of `misstep generate triage-cases`.")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ways = msgspec.toml.decode(Path(__file__).with_name("damages.toml").read_bytes(), type=_Ways)
    planted: Counter[tuple[str, str]] = Counter()
    hits: Counter[tuple[str, str, int]] = Counter()
    passed = [case for case in read_triage_cases(options.cases) if case.file.outcome == "passed"]
    nothing = _Damage("files", "nothing", ("",))
    for case in passed:
        random = Random(f"{options.seed}/{case.id}")  # noqa: S311 (no secret)
        for damage, line in ((way, line) for way in (*ways.damage, nothing) for line in way.lines):
            name, place, thing = map(random.choice, (ways.files, ways.places, ways.things))
            with TemporaryDirectory() as folder:
                copied = Path(folder) / case.id
                shutil.copytree(case.folder, copied, symlinks=True)
                for part in ("environment", "workspace"):
                    file = copied / part / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text("as it was\n")
                _left(copied / "workspace" / name, damage.becomes)
                command = line.replace("{file}", name).replace("{place}", place).replace("{thing}", thing)
                kinds = _kinds_shown(structs.replace(case, folder=copied), command, random)
            planted[damage.kind, damage.becomes] += 1
            for number, present in enumerate(kinds):
                hits[damage.kind, damage.becomes, number] += bool(present)
    print(f"runs that passed: {len(passed)}")
    for kind, becomes in planted:
        by_texts, by_files = (hits[kind, becomes, number] for number in (0, 1))
        counts = f"planted {planted[kind, becomes]:4}  seen in texts {by_texts:4}  in files {by_files:4}"
        print(f"{kind:12} {becomes:8} {counts}")


if __name__ == "__main__":
    main()
