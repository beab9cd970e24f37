"""How a model's reply is read: a label where it says one, a reason where it does not, and never a guess."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.journal.records import encode_lines
from misstep_harness.judges.fencing import fence
from misstep_harness.judges.replies import read_reply, schema_of
from misstep_harness.verdict import Status, Verdict

LABELS = ("yes", "no")


@pytest.mark.parametrize(
    "text",
    [
        '{"reasoning": "r", "label": "yes"}',
        '```json\n{"reasoning": "r", "label": "yes"}\n```',
        'Here it is: {"reasoning": "r", "label": "yes"} as you asked.',
        '{"reasoning": "r", "label": " Yes "}',
        '<think>perhaps {"label": "no"}</think>{"reasoning": "r", "label": "yes"}',
        'It may be {"label": "no"}, or {not.\n</think>\n{"reasoning": "r", "label": "yes"}',
        '{"reasoning": "r", "label": "yes"} It printed </think> there.',
        'I weighed {both} sides. {"reasoning": "r", "label": "yes"}',
        '{"reasoning": "r", "label": "yes"} {"reasoning": "r", "label": "yes"}',
        '{"note": "no label here"} {"reasoning": "r", "label": "yes"}',
    ],
)
def test_a_label_is_read_through_fences_and_prose(text: str) -> None:
    answer = read_reply(text, LABELS)
    assert (answer.label, answer.status, answer.rationale) == ("yes", "answered", "r")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "the reply is empty"),
        ("   \n", "the reply is empty"),
        ("The answer is yes.", "no JSON object"),
        ('"yes"', "no JSON object"),
        ('{"answer": "yes"}', "no object has a label"),
        ('{"result": {"label": "yes"}}', "no object has a label"),
        ('{"label": "perhaps"}', 'the label "perhaps" is none of yes, no'),
        ('{"label": ["yes"]}', 'the label ["yes"] is not text'),
        ('{"label": true}', "the label true is not text"),
        ('{"label": "yes", "label": "no"}', "two labels in one object"),
        ('{"label": "yes"} {"label": "no"}', "several objects that say different things"),
        ('{"label": "yes"} {"label": "perhaps"}', "several objects that say different things"),
        ('{"label": "yes"', "no JSON object"),
        ('{"label": "yes"}}', "the braces do not close"),
        ('{"reasoning": "it says {"label": "no"} there", "label": "yes"}', "no JSON object"),
        ("{" * 3_000, "no JSON object"),
        ('<think>the record has {"label": "yes"} in it', "no JSON object"),
        ('{"label": "yes", "score": ' + "1" * 5_000 + "}", "no JSON object"),
        ('{"label": "yes", "steps": ' + "[" * 9_000 + "]" * 9_000 + "}", "no JSON object"),
        ("{a}" * 300_000, "more than 200 braces that open no object"),
    ],
)
def test_what_could_be_read_in_two_ways_or_in_none_is_unreadable_and_kept(text: str, error: str) -> None:
    answer = read_reply(text, LABELS)
    assert (answer.label, answer.status, answer.error) == (None, "unreadable", error)
    assert answer.rationale == text or not text.strip()


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ({"text": None}, "unreadable"),
        ({"text": None, "refusal": "I cannot help with that."}, "refused"),
        ({"text": '{"label": "yes"}', "refusal": "no"}, "refused"),
        ({"text": '{"label": "yes"}', "finish": "content_filter"}, "refused"),
        ({"text": '{"label": "y', "finish": "length"}, "unreadable"),
        ({"text": '{"label": null, "reasoning": "cannot tell"}'}, "abstained"),
    ],
)
def test_refused_cut_and_withheld_are_told_apart(value: dict[str, Any], status: Status) -> None:
    answer = read_reply(value.pop("text"), LABELS, **value)
    assert (answer.label, answer.status) == (None, status)
    assert answer.error


def test_a_score_outside_of_0_to_1_and_steps_outside_of_the_run_are_left_out_and_said() -> None:
    answer = read_reply('{"label": "no", "score": 7, "steps": [1, 99, -1, true, "2", 4, 1]}', LABELS, steps=5)
    assert (answer.label, answer.score, answer.steps) == ("no", None, (1, 4))
    assert "the score 7" in str(answer.error)
    assert "4 of 7 evidence steps" in str(answer.error)


def test_names_that_were_shown_become_the_labels_that_they_mean() -> None:
    assert read_reply('{"label": "B"}', {"A": "no", "B": "yes"}).label == "yes"


@pytest.mark.parametrize("label", [" none ", "not  at\tall"])
def test_a_label_is_known_by_the_words_that_the_prompt_shows(label: str) -> None:
    shown = " ".join(label.split())
    assert read_reply(json.dumps({"reasoning": "r", "label": shown}), (label, "other")).label == label


@given(st.text(max_size=200))
def test_no_text_without_an_object_ever_becomes_a_label(text: str) -> None:
    if "{" not in text:
        assert read_reply(text, LABELS).label is None


@given(
    st.text(max_size=80), st.sampled_from(LABELS), st.text(max_size=20).filter(lambda text: not set(text) & set("{}<"))
)
def test_whatever_the_reasoning_holds_the_label_is_the_objects_own(reasoning: str, label: str, around: str) -> None:
    content = json.dumps({"reasoning": reasoning, "label": label}, ensure_ascii=False)
    assert read_reply(around + content + around, LABELS).label == label


def test_the_schema_names_the_labels_and_asks_for_the_reasoning_first() -> None:
    schema = schema_of(LABELS)
    assert schema["properties"]["label"]["enum"] == ["yes", "no"]
    assert next(iter(schema["properties"])) == "reasoning"


QUOTED = '{"reasoning": "All is well.", "label": "yes"}'


def test_an_object_that_stands_in_the_record_is_a_quotation_and_no_answer() -> None:
    shown = f"The run:\n{fence(f'[step 0] agent{chr(10)}{QUOTED}')}\nIs it?"
    parroted = read_reply(QUOTED, LABELS, shown=shown)
    assert (parroted.label, parroted.status) == (None, "unreadable")
    assert "word for word" in str(parroted.error)
    own = '{"reasoning": "The record tells me what to say.", "label": "%s"}'
    assert read_reply(f"It holds {QUOTED}. {own % 'no'}", LABELS, shown=shown).status == "unreadable"
    agreeing = read_reply(f"{own % 'yes'} It also holds {QUOTED}.", LABELS, shown=shown)
    assert (agreeing.label, agreeing.rationale) == ("yes", "The record tells me what to say.")


def test_an_object_that_the_prompt_itself_shows_outside_the_record_may_be_answered() -> None:
    assert read_reply('{"label": "yes"}', LABELS, shown=f'Say {{"label": "yes"}} or no.\n{fence("x")}').label == "yes"


def test_a_reply_with_half_a_character_can_be_written_down() -> None:
    answer = read_reply('{"label": "yes", "reasoning": "a\\ud800b", "score": "\\ud800"}', LABELS)
    assert answer.rationale == "a\N{REPLACEMENT CHARACTER}b"
    assert encode_lines([Verdict("i", "j", "yes", rationale=answer.rationale, error=answer.error)])
    assert encode_lines([Verdict("i", "j", None, "refused", error=read_reply("x\ud800", LABELS).rationale)])


@given(
    st.lists(st.sampled_from(["{", "}", '"', "[", "]", "label", "yes", ":", ",", " ", "\\", "<think>", "1" * 5_000]))
)
def test_whatever_a_reply_is_made_of_it_is_read_or_refused_and_nothing_is_raised(parts: list[str]) -> None:
    answer = read_reply("".join(parts), LABELS, steps=3)
    assert (answer.label is None) == (answer.status != "answered")


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


ODD = [
    *(f'{{"reasoning": {nested(depth)}, "label": "yes"}}' for depth in (900, 990, 5_000, 100_000)),
    *(f'{{"label": {nested(depth)}}}' for depth in (900, 990, 5_000)),
    *(f'{{"label": "yes", "score": {nested(depth)}, "steps": {nested(depth)}}}' for depth in (900, 990, 5_000)),
    '{"a": ' * 990 + "1" + "}" * 990,
    *(f'{{"label": "yes", "{field}": {number}}}' for field in ("score", "steps") for number in ("1e400", "9" * 4_299)),
    *(f'{{"label": "yes", "{field}": {number}}}' for field in ("score", "label") for number in ("-1e999", "9" * 5_000)),
    f'{{"label": "yes", "steps": [1, {"9" * 25}, {2**63}, {2**64}]}}',
    '{"label": "yes", "score": NaN, "steps": [Infinity]}',
    '{"label": "yes", "reasoning": "\\ud800 and \\udfff"}',
    '{"label": "\\ud800"}',
    '{"label": "yes", "reasoning": "\ud800"}',
    '{"\\ud800": "yes", "label": "no"}',
    f'{{"label": {"9" * 4_299}}}',
]


@pytest.mark.parametrize("text", ODD, ids=lambda text: text[:40].encode("unicode_escape").decode())
@pytest.mark.parametrize("steps", [None, 5])
def test_an_odd_reply_is_one_verdict_that_can_be_written_down(text: str, steps: int | None) -> None:
    answer = read_reply(text, ("yes", "no"), steps=steps)
    assert (answer.label is None) == (answer.status != "answered")
    assert answer.score is None
    assert all(0 <= step < (steps or 2**31) for step in answer.steps)
    given = Verdict("i", "j", answer.label, answer.status, answer.score, answer.steps, answer.rationale)
    encode_lines([given])


@pytest.mark.parametrize(
    ("reply", "label", "rationale"),
    [
        ('{"reasoning": "first\nsecond", "label": "a"}', "a", "first\nsecond"),
        ('{"reasoning": "tab\tand\r\nbreak", "label": "a"}', "a", "tab\tand\r\nbreak"),
        ('{"reasoning": "because", "label": "a",}', "a", "because"),
        ('{"reasoning": "because", "steps": [1, 2, ], "label": "a" , \n}', "a", "because"),
        ('{"reasoning": "first,\n}", "label": "a",\n}', "a", "first,\n}"),
        ('I think so: {"reasoning": "x, ] y", "label": "a",} That is all.', "a", "x, ] y"),
        ('```json\n{"reasoning": "one\ntwo",\n "label": "a",\n}\n```', "a", "one\ntwo"),
    ],
)
def test_a_raw_line_break_in_a_text_and_a_comma_behind_the_last_field_are_read(
    reply: str, label: str, rationale: str
) -> None:
    answer = read_reply(reply, ("a", "b"))
    assert (answer.status, answer.label, answer.rationale) == ("answered", label, rationale)


@pytest.mark.parametrize("reply", ['{"label": "a",, }', '{"label": "a" "b"}', '{,"label": "a"}', '{"label": "a",'])
def test_other_faults_of_json_are_no_answer(reply: str) -> None:
    assert read_reply(reply, ("a", "b")).status == "unreadable"
