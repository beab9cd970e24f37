"""A prompted judge: an item → requests to a model, and the model's replies → one verdict.

Of several votes a label wins that more give than any other; a tie is not an answer. The score is the share of all
votes, unreadable ones included, that the label has.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import InputError
from misstep_harness.exchange import DecisionQuestion, Failure, Message, Outcome, Reply, Request
from misstep_harness.items import Item
from misstep_harness.judges.fencing import fence, one_line
from misstep_harness.judges.fit import offered
from misstep_harness.judges.judge_file import Aggregate, JudgeSpec, Permute
from misstep_harness.judges.placeholders import placeholder_values
from misstep_harness.judges.probabilities import read_decision, read_first_token
from misstep_harness.judges.replies import Answer, read_reply, schema_of
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Status, Verdict

_WORST_FIRST: tuple[Status, ...] = ("failed", "refused", "unreadable", "abstained")


def label_names(labels: Sequence[str], permute: Permute, turn: int) -> dict[str, str]:
    """Return the names that are in the prompt, in order, each with the label that it means."""
    by = turn % len(labels)
    turned = [*labels[by:], *labels[:by]]
    if permute == "names":
        return {_letter(place): label for place, label in enumerate(turned)}
    return {label: label for label in (turned if permute == "order" else labels)}


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"L{place}"


def decided(answers: Sequence[Answer], aggregate: Aggregate = "majority") -> Answer:
    """Return the one answer that several votes come to."""
    if len(answers) == 1:
        return answers[0]
    read = [answer for answer in answers if answer.status == "answered" and answer.label is not None]
    if not read:
        statuses = [answer.status for answer in answers]
        worst = next(status for status in _WORST_FIRST if status in statuses)
        first = next(answer for answer in answers if answer.status == worst)
        return Answer(None, worst, rationale=first.rationale, error=f"none of {len(answers)} votes: {first.error}")
    weight: dict[str, float] = {}
    for answer in read:
        own_weight = 1.0 if aggregate == "majority" or answer.score is None else answer.score
        weight[str(answer.label)] = weight.get(str(answer.label), 0.0) + own_weight
    (label, most), *others = sorted(weight.items(), key=lambda one: -one[1])
    votes = f"{sum(answer.label == label for answer in read)} of {len(answers)} votes"
    if others and others[0][1] == most:
        return Answer(None, "abstained", rationale=read[0].rationale, error=f"a tie: {votes} each")
    own = [answer for answer in read if answer.label == label]
    steps = sorted({step for answer in own for step in answer.steps})
    error = None if len(own) == len(answers) else votes
    return Answer(label, "answered", most / len(answers), tuple(steps), own[0].rationale, error)


_RULES, _RULES_OF_A_LABEL = "judges/data_and_reply", "judges/data_and_label"

_TOP_LOGPROBS = 20
"""As many as servers give."""

_TOKENS_OF_A_LABEL = 4
"""A label's first token, and what a chat template may put before it."""


class ItemRequests(Struct, frozen=True):
    """The requests about one item, one for each vote, and what is needed to read the replies.

    - `names`: For each vote, the names in the prompt → the labels.
    - `steps`: The number of the run's steps.
    - `cut`: One sentence on the part of the run that was left out.
    """

    item: str
    requests: tuple[Request, ...]
    names: tuple[dict[str, str], ...]
    steps: int | None
    cut: str


def ask(spec: JudgeSpec, item: Item, run: Trajectory | None) -> ItemRequests:
    """Return the requests that one item takes."""
    values, cut = placeholder_values(spec, item, run)
    labels = offered(spec, item)
    names = tuple(_names(tuple(labels), spec, turn) for turn in range(spec.votes))
    requests = tuple(_request(spec, values, labels, shown, turn) for turn, shown in enumerate(names))
    return ItemRequests(item.id, requests, names, None if run is None else len(run.steps), cut)


def verdict(spec: JudgeSpec, item_requests: ItemRequests, outcomes: Sequence[Outcome]) -> Verdict:
    """Return the verdict that the outcomes of an item's requests come to, in the order of the requests."""
    answers = [
        _answer(names, request, outcome, item_requests.steps)
        for names, request, outcome in zip(item_requests.names, item_requests.requests, outcomes, strict=True)
    ]
    answer = decided(answers, spec.aggregate)
    replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
    return Verdict(
        item=item_requests.item,
        judge=spec.name,
        label=answer.label,
        status=answer.status,
        score=answer.score,
        steps=answer.steps,
        rationale=answer.rationale,
        seconds=sum(outcome.seconds for outcome in outcomes),
        input_tokens=_sum([reply.input_tokens for reply in replies]),
        output_tokens=_sum([reply.output_tokens for reply in replies]),
        cost_usd=_sum([reply.cost_usd for reply in replies]),
        model=replies[0].model if replies else spec.model.name,
        prompt=spec.prompt.label,
        cached=bool(replies) and all(reply.cached for reply in replies),
        error="; ".join(filter(None, (answer.error, item_requests.cut))) or None,
    )


def _names(labels: Sequence[str], spec: JudgeSpec, turn: int) -> dict[str, str]:
    """Return the names in the prompt → the labels; a label may be what a run says, such as an agent's name."""
    names = {one_line(name): label for name, label in label_names(labels, spec.permute, turn).items()}
    if len(names) < len(labels):
        message = f"two labels are the same when they are written on one line: {', '.join(map(repr, labels))}"
        raise InputError(message, "Spell the labels differently.", field="labels")
    return names


def _answer(names: Mapping[str, str], request: Request, outcome: Outcome, steps: int | None) -> Answer:
    if isinstance(outcome, Failure):
        return Answer(None, "failed", error=f"{outcome.kind}: {outcome.sentence}")
    if request.decision is not None:
        return read_decision(outcome, names)
    if request.top_logprobs:
        return read_first_token(outcome, names)
    shown = request.messages[-1].content
    return read_reply(outcome.text, names, refusal=outcome.refusal, finish=outcome.finish, steps=steps, shown=shown)


def _sum(values: Sequence[Any]) -> Any:
    return None if not values or any(value is None for value in values) else sum(values)


def _request(
    spec: JudgeSpec, values: Mapping[str, str], labels: Mapping[str, str], names: Mapping[str, str], turn: int
) -> Request:
    of_the_benchmark = {"labels": _listed(labels, names), "benchmark_question": one_line(spec.asks)}
    name_of = {label: name for name, label in names.items()}
    model = spec.model
    of_a_label = model.api != "chat" or model.scores == "logprobs"
    rules = fill(shipped_prompt(_RULES_OF_A_LABEL if of_a_label else _RULES).user, {"names": ", ".join(names)})
    system = "\n\n".join(filter(None, (fill(spec.prompt.system, of_the_benchmark), rules)))
    messages = [Message("system", system)]
    for example in (one for one in spec.examples if one.label in name_of):
        fenced = {name: _fenced_example(text) for name, text in example.values.items()}
        messages += [
            Message("user", fill(spec.prompt.user, {**fenced, **of_the_benchmark})),
            Message(
                "assistant",
                name_of[example.label] if of_a_label else _reply_text(example.reasoning, name_of[example.label]),
            ),
        ]
    messages.append(Message("user", fill(spec.prompt.user, {**values, **of_the_benchmark})))
    request = Request(
        model=model.name,
        messages=tuple(messages),
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        seed=None if model.seed is None else model.seed + turn,
        sample=turn,
        extra=model.extra,
    )
    if model.api != "chat":
        return replace(request, decision=DecisionQuestion(model.api, _meanings(labels, names)))
    if of_a_label:
        return replace(request, max_tokens=_TOKENS_OF_A_LABEL, logprobs=True, top_logprobs=_TOP_LOGPROBS)
    return replace(request, schema=schema_of(tuple(names)) if model.structured else None)


def _meanings(labels: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {
        name: ": ".join(filter(None, ("" if name == one_line(label) else one_line(label), one_line(labels[label]))))
        for name, label in names.items()
    }


@lru_cache(maxsize=256)
def _fenced_example(text: str) -> str:
    return fence(text, "example")


def _listed(labels: Mapping[str, str], names: Mapping[str, str]) -> str:
    meanings = _meanings(labels, names)
    return "\n".join(f"- {name}: {meaning}" if meaning else f"- {name}" for name, meaning in meanings.items())


def _reply_text(reasoning: str, label: str) -> str:
    import msgspec

    return msgspec.json.encode({"reasoning": reasoning, "label": label, "score": 1.0, "steps": []}).decode()
