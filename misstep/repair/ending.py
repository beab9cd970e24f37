"""Print the end of `misstep repair run`: scores, and of a repository each patch."""

import os
import shlex
from typing import TYPE_CHECKING, Any

from misstep.options.common import json_text
from misstep.repair.cases import Named
from misstep_harness.escaping import plain, printable
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_analysis.repair.recorded_runs import RepairRun

_LINES_SHOWN = 60


def print_scores(run: "RepairRun", named: Named, *, json: bool, plumbing: bool) -> None:
    """Write the scores of a run and print them; of a repository each patch and its next command, or why not."""
    import msgspec

    from misstep_analysis.repair.report import observed_attempts, repairs_json, repairs_text, write_repair_scores
    from misstep_harness.journal.records import REPORT

    lines, more = _ending(named, run)
    scores = write_repair_scores(run, shlex.join(["misstep", "report", str(run.folder)]))
    if (observations := observed_attempts(run)) is not None:
        lines, more = [*lines, observations.sentence], {**more, "observed": msgspec.to_builtins(observations)}
    if json:
        print(json_text(msgspec.json.decode(repairs_json([run], [scores])) | more))
    else:
        shown = [] if named.repository else [repairs_text([run], [scores]).rstrip()]
        print("\n\n".join([*shown, *(["\n".join(lines)] if lines else [])]))
    if plumbing and not json:
        from misstep_analysis.judging.report import NO_JUDGE

        print(f"\n{NO_JUDGE}", end="")
    say(f"misstep: the attempts are in {plain(str(run.folder / REPORT))}")


def _ending(named: Named, run: "RepairRun") -> tuple[list[str], dict[str, Any]]:
    """Return each patch of a run on a repository with its next command, or why not, as lines and for scripts."""
    if named.repository is None:
        return [], {}
    from misstep_analysis.repair.one_repair import repair_sentence
    from misstep_harness.journal.records import replace_file
    from misstep_harness.repair.failure_bot.tasks import BLAME
    from misstep_harness.repair.records import ATTEMPT_RECORDS, case_notes
    from misstep_harness.repair.runs.repository import attach_patch

    blames = [{"case": each.case.id, **each.case.extra[BLAME]} for each in named.cases if BLAME in each.case.extra]
    lines: list[str] = []
    patches: list[dict[str, str]] = []
    attempts = list(run.read(ATTEMPT_RECORDS))
    for case in named.cases:
        of_case = [each for each in attempts if each.case == case.case.id]
        solved = [each for each in of_case if each.solved]
        notes = case_notes(run.folder, run.manifest.folder, case.case.id)
        wanted = next((each for each in solved if attach_patch(case.case, each.patch)), None)
        if wanted is None:
            lines += [repair_sentence(each, notes) for each in of_case[-1:]]
            lines += ["Reviewers rejected this patch before, so it is not attached."] if solved else []
            continue
        file = (run.folder / f"{case.case.id}.patch").resolve()
        replace_file(file, wanted.patch.encode("utf-8", "surrogateescape"))
        from_there = os.path.relpath(file, named.repository.resolve())
        line = shlex.join(["git", "-C", str(named.repository), "apply", from_there])
        patches.append({"case": case.case.id, "file": str(file), "apply": line})
        diff = printable(wanted.patch).rstrip().splitlines()
        more = [f"… and {len(diff) - _LINES_SHOWN} more lines"] if len(diff) > _LINES_SHOWN else []
        lines += [repair_sentence(wanted, notes), "", *diff[:_LINES_SHOWN], *more, "", f"Apply it: {line}"]
    lines += [f"Held back: {each.line}" for each in named.held_back]
    if not named.cases and not named.held_back:
        lines.append("No test fails at the head of the repository: there is nothing to repair.")
    held_back = [{"tests": each.tests, "rule": each.rule, "reason": each.reason} for each in named.held_back]
    return [printable(line) for line in lines], {"patches": patches, "blames": blames, "held_back": held_back}
