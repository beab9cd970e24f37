"""`misstep generate triage-cases`: runs of agents whose fault is planted and proved by running."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from misstep.options.common import Json
from misstep.options.run_folders import stopped_with
from misstep_analysis.tables.text import aligned
from misstep_harness.escaping import plain
from misstep_harness.triage.generate.cases import FamilyChoice, TriageCounts, TriageOptions, write_triage_cases


def triage_cases(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder: new, empty, or from the same command.")],
    n: Annotated[
        int, typer.Option("--n", min=1, metavar="N", help="Number of cases; about four fifths are failed runs.")
    ] = 148,
    seed: Annotated[int, typer.Option(metavar="S", help="Random seed; the same seed gives the same cases.")] = 0,
    families: Annotated[
        FamilyChoice,
        typer.Option(help="Task families: `development` for writing rules, `scoring` for measuring them, or `all`."),
    ] = "scoring",
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes that run cases; by default one a processor.")
    ] = None,
    json: Json = False,
) -> None:
    """Generate runs whose fault is known.

    It is the fault of the task, of the agent, or of the infrastructure.

    Agents really run in the sandbox, and so do the tests; proofs.jsonl has the runs that prove each label. The 148
    cases of the default have 121 failed runs and 27 passes, of which 8 are sound. DIR is a benchmark for `misstep judge
    run` and `misstep triage`; gold.csv, gold_subcategories.csv and gold_construction.csv tell what was planted. After
    an interruption, the same command starts from the beginning.

        misstep generate triage-cases --n 148 --seed 0 --out cases
        misstep generate triage-cases --families development --seed 1 --out known
    """
    options = TriageOptions(n, seed, families)
    with stopped_with(f"nothing is kept in {out}, and the same line starts anew"):
        counts = write_triage_cases(out, options, workers)
    print(_as_json(counts, options, out) if json else _as_text(counts, options, out))


def _as_json(counts: TriageCounts, options: TriageOptions, out: Path) -> str:
    document: dict[str, Any] = {
        "evidence": "generated",
        "seed": options.seed,
        "family_set": options.families,
        "out": str(out),
        **msgspec.to_builtins(counts),
    }
    return msgspec.json.encode(document).decode()


def _as_text(counts: TriageCounts, options: TriageOptions, out: Path) -> str:
    rows = [("label", "subcategory", "cases")]
    for label, count in counts.labels.items():
        rows.append((label, "", f"{count:,}"))
        rows += [("", name, f"{below:,}") for name, below in counts.subcategories[label].items()]
    rest = (
        f"generated: {counts.n:,} cases, {counts.failed:,} of them failed, from {counts.families} {options.families} "
        f"families, seed {options.seed}, in {plain(str(out))}"
    )
    return "\n".join([*aligned(rows), "", rest])
