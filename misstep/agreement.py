"""`misstep agreement`: how far annotators agree, overall, by pair, by label and by item."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.escaping import plain
from harness.progress import say
from misstep.agreement_options import (
    Boot,
    By,
    Decimal,
    File,
    Item,
    Keep,
    Label,
    Level,
    Missing,
    Order,
    Rater,
    Raters,
    names,
)
from misstep.options import Html, Json, Seed, command_app, json_text

if TYPE_CHECKING:
    from analysis.measures.agreement import QuestionReports

app = command_app()


@app.command()
def agreement(
    file: File,
    raters: Raters = "",
    level: Level = "nominal",
    order: Order = "",
    item: Item = "",
    rater: Rater = "",
    label: Label = "",
    by: By = "",
    keep: Keep = None,
    missing: Missing = "",
    decimal: Decimal = None,
    boot: Boot = 10_000,
    seed: Seed = 0,
    json: Json = False,
    html: Html = None,
) -> None:
    """Measure how far annotators agree.

    LABELS is wide (a column of items, then one column per rater) or long (the columns item, rater and label, or columns
    with other names for them), or an export of Label Studio, Prodigy or Argilla. An empty cell is a missing rating.
    Labels are compared without letter case and without spaces around them. In the JSON, shares of agreement run from 0
    to 1.
    """
    from analysis.labels import Reading, read_questions
    from analysis.labels.content import shown
    from analysis.measures.agreement import QuestionReports, agreement_report

    reading = Reading(
        raters=names(raters, "--raters"),
        level=level,
        order=names(order, "--order"),
        item=item,
        rater=rater,
        labels=names(label, "--label"),
        by=by,
        keep=keep,
        missing=names(missing, "--missing"),
        decimal=decimal,
    )
    questions = read_questions(file, reading)
    remarks = [*questions.remarks]
    remarks += [
        f"{name}: {remark_text}" if name else remark_text
        for name, one in questions.labels.items()
        for remark_text in one.remarks
    ]
    for remark in remarks:
        say(f"misstep: {plain(f'{shown(file)}: {remark}')}")
    reports = {name: agreement_report(labels, level, boot, seed) for name, labels in questions.labels.items()}
    found = QuestionReports(reports, questions.remarks)
    if html is not None:
        _write_page(found, file, html)
    if json:
        print(json_text(found.document()))
    else:
        from analysis.pages.agreement_text import reports_text

        print(reports_text(found))


def _write_page(found: "QuestionReports", file: Path, html: Path) -> None:
    from analysis.labels.content import shown
    from analysis.pages.agreement import report_page
    from harness.journal.records import replace_file

    command = shlex.join(["misstep", *(part for part in sys.argv[1:] if part != "--json")])
    written = report_page(found, shown(file), command).encode()
    try:
        replace_file(html, written)
    except OSError as error:
        raise UsageError(f"--html {html}: {error.strerror}", "Name a file in a folder that exists.") from error
