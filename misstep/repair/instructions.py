"""`misstep repair instructions`: have a model write what to change in each case, back from its fix."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misstep.options import run_folders
from misstep.options.common import Json, json_text
from misstep.options.model import EACH_AT_ONCE, ModelOptions, client_settings, with_local_model
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_harness.journal.opened import OpenRun


def instructions(
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="Folder of repair cases with a golden patch, or one.")],
    out: run_folders.Out,
    temperature: Annotated[float | None, typer.Option(min=0, help="Temperature of the model.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the model.")] = 0,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Number of cases at once.")] = 2,
    json: Json = False,
    *,
    asking: Annotated[ModelOptions, EACH_AT_ONCE],
) -> None:
    """Have a model say in words what each fix does.

    Each case gets a high-level and a detailed text, and none shows a line of its fix.

    A text that shows a line of the fix, or a code block, is asked for again, and is refused after three answers.
    `repair run --instructions-from` gives the texts to an agent; cases without a text are left out there.
    """
    import sys

    from misstep_harness.agent.protocols import ModelSettings
    from misstep_harness.journal.opened import open_of
    from misstep_harness.repair.case import read_cases
    from misstep_harness.repair.runs.instructions import InstructionRun
    from misstep_harness.runs.run import Asking, carry_out

    if not (asking.model or asking.local):
        raise UsageError("a model writes the instructions", "Name one with --model, or --local to test the set-up.")
    chosen = list(read_cases(cases))
    with with_local_model(asking) as known, run_folders.kept_when_stopped(out):
        model = ModelSettings(known.model, temperature, seed=seed)
        client = client_settings(known)
        kind = InstructionRun(chosen, model, client)
        ended = carry_out(kind, out, Asking(client, workers), arguments=sys.argv[1:])
    _print(open_of(out, kind.command), json=json)
    if not ended.finished:
        why = ended.stopped or ended.last_failure
        say(f"misstep: {ended.wanted - ended.done + ended.failed:,} cases have no answer: {plain(why)}")
        raise typer.Exit(1)


def _print(run: "OpenRun", *, json: bool) -> None:
    from misstep_harness.repair.records import INSTRUCTION_RECORDS
    from misstep_harness.repair.runs.instructions import FORMS

    records = {one.case: one for one in run.read(INSTRUCTION_RECORDS)}
    counts = {kind: sum(kind in record.texts for record in records.values()) for kind in FORMS}
    refused = [(record.case, kind, why) for record in records.values() for kind, why in record.refused.items()]
    if json:
        rows = [{"case": case, "kind": kind, "reason": why} for case, kind, why in refused]
        print(json_text({"n": len(records), "texts": counts, "refused": rows}))
        return
    for kind, count in counts.items():
        print(f"{kind.replace('_', '-')}: {count:,} of {len(records):,} cases have a text without code of the fix")
    for case, kind, why in refused:
        print(f"{plain(case)} has no {kind.replace('_', '-')} text: {plain(why)}")
