"""`misstep judge probe`: how far a judge's labels follow from length, claims, order and form."""

from typing import Annotated

import typer

from misstep.judge import options
from misstep.judge.run import Benchmark, Sessions
from misstep.options import run_folders
from misstep.options.common import Data, Json, Seed
from misstep.options.model import ModelOptions
from misstep_harness.errors import MissingPrerequisite, UsageError


def probe(
    judge: options.Judge,
    out: run_folders.Out,
    sessions: Sessions = None,
    benchmark: Benchmark = "",
    items: Annotated[int, typer.Option(min=1, metavar="N", help="Number of items to change, drawn at random.")] = 100,
    probe: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="One probe alone, such as verbosity; repeatable.")
    ] = None,
    label: Annotated[
        str, typer.Option(help="Label whose rate is compared; by default the positive one, or the first.")
    ] = "",
    seed: Seed = 0,
    data: Data = None,
    json: Json = False,
    *,
    asking: ModelOptions,
) -> None:
    """Measure what moves a judge's labels and should not.

    The judge runs on items and on the same items changed: longer by sentences that add nothing, with the word of an
    expert, with its own model named as the author, with the labels in the opposite order, as Markdown or plain text,
    as JSON with other white space, with an instruction that asks for the label. Each probe has the change in the
    rate of one label with its interval and a test, adjusted after Holm, and how many labels flip either way. A copy of
    each item shows what flips by chance.

    The command makes the items in the run's folder, as a benchmark. The same command continues a run that was stopped.
    What the position of an answer does is a figure of every run of a judge of pairs.
    """
    import sys

    from misstep.judge.changed_benchmark import SESSIONS, drawn_source, write_probes
    from misstep.judge.probed_judge import label_followed, write_probed
    from misstep_analysis.judging.judged_runs import open_run
    from misstep_analysis.judging.scored import write_scores
    from misstep_harness.judges.probes import chosen_probes
    from misstep_harness.runs.judging.judge import run_judge
    from misstep_harness.runs.judging.known_judges import asked_about

    chosen, stopped = chosen_probes(probe or ()), None
    with options.opened_judge(judge, asking, data) as (opened, settings), run_folders.kept_when_stopped(out):
        if opened.dataset:
            message = f"the answers of {judge} are recorded: it cannot be asked about a changed item"
            raise UsageError(
                message, "Name a rule, a judge's file or a judge in Python; `misstep judge list` lists them."
            )
        plain = asked_about(opened, sessions or [], benchmark, out, data, place=SESSIONS)
        source = drawn_source(opened, plain, items, seed)
        followed = label_followed(source.question, tuple(opened.labels), label)
        folder = write_probes(opened, out, source, chosen, followed)
        try:
            ended = run_judge(opened, folder, out, settings, concurrency=asking.in_flight, arguments=sys.argv[1:])
        except MissingPrerequisite as error:
            stopped = error
    write_scores(run := open_run(out, str(folder)))
    document, text = write_probed(run, followed, chosen, seed, plumbing=asking.local)
    if stopped is not None:
        raise stopped
    print(document if json else text, end="")
    run_folders.exit_unless_whole(ended)
