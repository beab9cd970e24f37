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
    from misstep_harness.repair.records import RepairAttempt

_LINES_SHOWN = 60


def print_scores(run: "RepairRun", named: Named, *, json: bool, plumbing: bool) -> None:
    """Write the scores of a run and print them; of a repository each patch and its next command, or why not."""
    import msgspec

    from misstep_analysis.repair.report import observed_attempts, repairs_json, repairs_text, write_repair_scores
    from misstep_harness.journal.records import REPORT

    scores = write_repair_scores(run, shlex.join(["misstep", "report", str(run.folder)]))
    lines, more = _ending(named, run)
    if (observations := observed_attempts(run)) is not None:
        lines, more = [*lines, observations.sentence], {**more, "observed": msgspec.to_builtins(observations)}
    if json:
        print(json_text(msgspec.json.decode(repairs_json([run], [scores])) | more))
    else:
        shown = [] if named.repository and not named.cases else [repairs_text([scores]).rstrip()]
        print("\n\n".join([*shown, *(["\n".join(lines)] if lines else [])]))
    if plumbing and not json:
        from misstep_analysis.judging.report import NO_JUDGE

        print(f"\n{NO_JUDGE}", end="")
    say(f"misstep: the attempts are in {plain(str(run.folder / REPORT))}")


def _ending(named: Named, run: "RepairRun") -> tuple[list[str], dict[str, Any]]:
    """Return each patch of a run on a repository with its next command, or why not, as lines and for scripts."""
    if named.repository is None:
        return [], {}
    from misstep_harness.journal.records import replace_file
    from misstep_harness.repair.failure_bot.tasks import BLAME
    from misstep_harness.repair.records import ATTEMPT_RECORDS
    from misstep_harness.repair.runs.repository import attach_patch

    blames = [{"case": each.case.id, **each.case.extra[BLAME]} for each in named.cases if BLAME in each.case.extra]
    lines = [_blame_line(each) for each in blames]
    patches: list[dict[str, str]] = []
    attempts = list(run.read(ATTEMPT_RECORDS))
    for case in named.cases:
        of_case = [each for each in attempts if each.case == case.case.id]
        solved = [each for each in of_case if each.solved]
        tests = ", ".join(case.case.oracle) if all(case.case.oracle) else "the test command"
        wanted = next((each for each in solved if attach_patch(case.case, each.patch)), None)
        if wanted is None:
            why = "the tests pass with a patch that reviewers rejected before" if solved else ""
            lines += [f"{case.case.id} ({tests}) is not repaired: {why or _why(of_case[-1])}" for _ in of_case[:1]]
            continue
        file = (run.folder / f"{case.case.id}.patch").resolve()
        replace_file(file, wanted.patch.encode("utf-8", "surrogateescape"))
        from_there = os.path.relpath(file, named.repository.resolve())
        line = shlex.join(["git", "-C", str(named.repository), "apply", from_there])
        patches.append({"case": case.case.id, "file": str(file), "apply": line})
        diff = printable(wanted.patch).rstrip().splitlines()
        more = [f"… and {len(diff) - _LINES_SHOWN} more lines"] if len(diff) > _LINES_SHOWN else []
        lines += [f"{case.case.id} ({tests}) is repaired:", "", *diff[:_LINES_SHOWN], *more, "", f"Apply it: {line}"]
    lines += [f"Held back: {each.line}" for each in named.held_back]
    if not named.cases and not named.held_back:
        lines.append("No test fails at the head of the repository: there is nothing to repair.")
    held_back = [{"tests": each.tests, "rule": each.rule, "reason": each.reason} for each in named.held_back]
    return [printable(line) for line in lines], {"patches": patches, "blames": blames, "held_back": held_back}


def _blame_line(blame: "dict[str, Any]") -> str:
    commit, posterior = f"{blame['commit'][:10]} ({blame['subject']})", f"{blame['posterior']:.0%}"
    return f"{blame['case']} began with {commit} by {blame['author']}, posterior {posterior}. {blame['assumes']}\n"


def _why(attempt: "RepairAttempt") -> str:
    if attempt.error:
        return attempt.error
    steps = attempt.trajectory.steps if attempt.trajectory is not None else ()
    last = next((step.text for step in reversed(steps) if step.role == "agent" and step.text), "")
    words = " ".join(last.split())
    failing = next((each.text for each in attempt.signals if each.validator == "oracle" and each.passed is False), "")
    why = "" if attempt.ended == "exit" else f"it ended by its limit of {attempt.ended}"
    return (
        "; ".join(filter(None, [why, words, " ".join(failing.split())[:200] if attempt.patch else ""])) or attempt.ended
    )
