"""`misstep agreement`: how far annotators agree, overall, by pair, by label and by item."""

from typing import Annotated

from misstep.options.agreement import Adjudicate, Boot, Consensus, File, IntervalWidth, LabelOptions
from misstep.options.common import Html, Json, Seed, command_app, json_text, say_remarks, this_line, write_file
from misstep.options.gate import BELOW, GateOptions

app = command_app()


@app.command()
def agreement(
    file: File,
    boot: Boot = 10_000,
    seed: Seed = 0,
    interval_width: IntervalWidth = None,
    consensus: Consensus = None,
    adjudicate: Adjudicate = None,
    json: Json = False,
    html: Html = None,
    *,
    labels: LabelOptions,
    limits: Annotated[GateOptions, BELOW],
) -> None:
    """Measure how far annotators agree.

    LABELS is wide (a column of items, then one column per rater) or long (the columns item, rater and label, or columns
    with other names for them), or an export of Label Studio, Prodigy, Argilla or Doccano. An empty cell is a missing
    rating. Labels are compared without letter case and without spaces around them. In the JSON, shares of agreement run
    from 0 to 1.

    \b
    misstep agreement labels.csv --html page.html
    misstep agreement export.json --by question --keep last
    misstep agreement scores.xlsx --level ordinal --missing NA
    misstep agreement labels.csv --adjudicate disputed.csv
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep_analysis.agreement import QuestionReports, agreement_report
    from misstep_analysis.agreement.tables import adjudication_csv, consensus_csv
    from misstep_analysis.labels import read_questions
    from misstep_analysis.labels.rows import shown

    gates = limits.gates()
    questions = read_questions(file, labels.reading())
    named = ((name, remark) for name, one in questions.labels.items() for remark in one.remarks)
    remarks = (f"{name}: {remark}" if name else remark for name, remark in named)
    say_remarks((*questions.remarks, *remarks), shown(file))
    reports = {
        name: agreement_report(one, labels.level, boot, seed, interval_width) for name, one in questions.labels.items()
    }
    report = QuestionReports(reports, questions.remarks)
    if consensus is not None:
        write_file("--consensus", consensus, consensus_csv(report))
    if adjudicate is not None:
        write_file("--adjudicate", adjudicate, adjudication_csv(report))
    if html is not None:
        from misstep_analysis.agreement.page import report_page

        write_file("--html", html, report_page(report, shown(file), this_line()))
    if json:
        print(json_text(report.document()))
    else:
        from misstep_analysis.agreement.page import reports_text

        print(reports_text(report))
    limits.settle(gates, report.coefficients(), "misstep agreement")
