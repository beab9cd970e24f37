"""Outcomes of gates for pipelines: JUnit and Markdown say the same, and no name breaks out of either."""

from xml.etree import ElementTree

from misstep_analysis.judging.gates import decide, fail_on, junit_xml, markdown_summary, outcome_sentence
from misstep_analysis.stats.estimate import Estimate

FIGURES = {
    "loop": Estimate(0.071, 0.04, 0.12, 200),
    "drift": Estimate(None, reason="nothing could be checked"),
    "a|<b>\x1b[31m": Estimate(0.5, 0.4, 0.6, 10),
}
OUTCOMES = decide(
    [fail_on(text) for text in ("loop.lower>5%", "loop>5%", "drift>5%", "a|<b>\x1b[31m.upper>0.55")], FIGURES
)


def test_a_sentence_says_the_figure_its_interval_and_the_limit() -> None:
    passed, failed, undecided, beyond = map(outcome_sentence, OUTCOMES)
    assert failed == "loop is 7.1% (95% interval 4.0% to 12.0%); it may not be more than 5.0%"
    assert passed.endswith("; the lower end of the interval, 4.0%, is not more than 5.0%")
    assert beyond.endswith("; the upper end of the interval, 60.0%, may not be more than 55.0%")
    assert undecided == "drift cannot be computed: nothing could be checked"


def test_junit_has_a_case_a_gate_and_what_is_undecided_is_an_error() -> None:
    suite = ElementTree.fromstring(junit_xml(OUTCOMES, "misstep classify"))[0]  # noqa: S314 (our own)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "1")
    assert [case[0].tag for case in suite] == ["system-out", "failure", "error", "failure"]
    assert suite[3].get("name") == "a|<b>.upper>0.55"


def test_the_summary_has_what_was_not_passed_first_and_no_markup_from_names() -> None:
    lines = markdown_summary(OUTCOMES, "misstep classify").splitlines()
    assert [line.split(" | ")[1] for line in lines[4:]] == ["failed", "undecided", "failed", "passed"]
    assert "<b>" not in "".join(lines)
    assert all(line.replace("\\|", "").count("|") == 4 for line in lines[4:])


def test_what_is_too_few_to_tell_says_how_many_more_would_decide_and_is_skipped_if_it_may_pass() -> None:
    gates = [fail_on("loop>5%"), fail_on("loop>7.1%")]
    sentences = [outcome_sentence(one) for one in decide(gates, FIGURES, "pass")]
    assert sentences[0].endswith(
        "the interval holds the limit, 5.0%: too few items to tell; about 240 more would decide if the figure stays"
    )  # 200 (3.1² / 2.1² - 1) is 236
    assert sentences[1].endswith("the figure is the limit, so that no number of items would decide")
    may_pass, may_not = (junit_xml(decide(gates, FIGURES, end), "x") for end in ("pass", "fail"))
    assert (may_pass.count("<skipped"), may_pass.count("<error"), may_not.count("<error")) == (2, 0, 2)
