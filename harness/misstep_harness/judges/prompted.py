"""A prompted judge: an item → requests to a model, and the model's replies → one verdict.

Of several votes a label wins that more give than any other; a tie is not an answer. The score is the share of all
votes, unreadable ones included, that the label has.

What the placeholders of a prompt stand for, for one item: each text fenced, all of them together within the budget.

{text} {task} {patch}             the item's fields; the task may be that of its run
{output_a} {output_b}             the outputs of a pair
{step}                            the number of the step that is asked about
{trajectory}                      the run's steps
{before} {intervention} {after}   the steps before the one that is asked about, that one, the 15 after it
{window}                          the steps after it up to 15 of the agent's, before a user speaks
{item}                            all that is to be seen of the item
any other                         what the item's `extra` has under that name

Of `{item}` each part is fenced on its own, so that no text can open another part:

    The task:
    <data 7d0c…>
    Count the lines of a.txt
    </data 7d0c…>

    category:
    <data 03fa…>
    Formatting errors
    </data 03fa…>

    Step 4 is the one that is asked about.

An item's `extra` is shown only as far as the benchmark names it in `shown`: the rest may tell how the run ended. What
items about one run have in common comes first, so that servers which keep the beginnings of prompts read it once.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import InputError
from misstep_harness.exchange import DecisionQuestion, Failure, Message, Outcome, Reply, Request
from misstep_harness.intervention import STEPS_AFTER, steps_after
from misstep_harness.items import NO_OUTPUT, Item
from misstep_harness.judges.context import CHARACTERS_PER_TOKEN, Fitted, cut_text, fitted_steps, shares
from misstep_harness.judges.fencing import fence, one_line
from misstep_harness.judges.fit import offered
from misstep_harness.judges.judge_file import OF_THE_BENCHMARK, Aggregate, JudgeSpec, Permute
from misstep_harness.judges.replies import Answer, label_meant, read_reply, schema_of
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Status, Verdict


def whole_item(spec: JudgeSpec, item: Item, run: Trajectory | None, room: int) -> Fitted:
    """Return all that is to be seen of an item, within `room` characters; no text where that is nothing."""
    texts = list(_texts(item, run))
    noted = list(_noted(spec, item))
    rooms = shares([len(text) for _, text in texts + noted], room if run is None else room // 2)
    parts = [(title, cut_text(text, most)) for (title, text), most in zip(texts + noted, rooms, strict=True)]
    if run is not None and run.steps:
        left = room - sum(min(len(text), most) for (_, text), most in zip(texts + noted, rooms, strict=True))
        parts.insert(len(texts), ("The run", fitted_steps(run.steps, left, spec.policy, item.step, first=0)))
    shown = [f"{one_line(title)}:\n{fence(part.text, title)}" for title, part in parts]
    if shown and item.step is not None:
        shown.append(f"Step {item.step} is the one that is asked about.")
    cuts = [f"{title}: {part.cut}" for title, part in parts if part.cut]
    return Fitted("\n\n".join(shown), "; ".join(cuts))


def _texts(item: Item, run: Trajectory | None) -> Iterator[tuple[str, str]]:
    if task := item.task or ("" if run is None else run.task):
        yield "The task", task
    if item.text:
        yield "The text", item.text
    if item.patch:
        yield "The patch", item.patch
    yield from item.outputs.items()


def _noted(spec: JudgeSpec, item: Item) -> Iterator[tuple[str, str]]:
    for name in spec.shown:
        value = item.extra.get(name)
        if value is not None and value != "":
            yield name, value if isinstance(value, str) else msgspec.json.encode(value).decode()


_OUTPUTS = ("output_a", "output_b")
_TEXT_FIELDS = ("text", "task", "patch", *_OUTPUTS)
_WEIGHTS = {"item": 5, "trajectory": 5, "before": 2, "intervention": 1, "after": 2, "window": 2}
"""What is made of a run, and how it shares the room that texts leave."""

_UNFENCED = ("step", "item")


def placeholder_values(spec: JudgeSpec, item: Item, run: Trajectory | None) -> tuple[dict[str, str], str]:
    """Return what each placeholder of the judge's prompt stands for, and what was cut."""
    names = sorted(spec.prompt.placeholders - OF_THE_BENCHMARK)
    texts = {name: _text(name, item, run) for name in names if name not in _WEIGHTS}
    room = spec.budget * CHARACTERS_PER_TOKEN
    weight = sum(_WEIGHTS.get(name, 0) for name in names)
    rooms = shares([len(text) for text in texts.values()], room // 2 if weight else room)
    fitted = {name: cut_text(text, most) for (name, text), most in zip(texts.items(), rooms, strict=True)}
    left = room - sum(min(len(text), most) for text, most in zip(texts.values(), rooms, strict=True))
    for name in names:
        if name in _WEIGHTS:
            fitted[name] = _of_run(name, spec, item, run, left * _WEIGHTS[name] // weight)
    missing = next((name for name in names if not fitted[name].text), None)
    if missing is not None:
        message = f"item {item.id!r} has no {{{missing}}}, which the prompt {spec.prompt.name} needs"
        raise InputError(message, "Choose a judge for items of this kind.")
    values = {
        name: part.text if name in _UNFENCED else fence(part.text, f"{item.id} {name}") for name, part in fitted.items()
    }
    return values, "; ".join(fitted[name].cut for name in names if fitted[name].cut)


def _text(name: str, item: Item, run: Trajectory | None) -> str:
    if name in _TEXT_FIELDS:
        text: str = getattr(item, name)
        if name in _OUTPUTS and item.kind == "pair":
            return text or NO_OUTPUT
        return text or (("" if run is None else run.task or "(not recorded)") if name == "task" else "")
    value = item.step if name == "step" else item.extra.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()


def _of_run(name: str, spec: JudgeSpec, item: Item, run: Trajectory | None, room: int) -> Fitted:
    if name == "item":
        return whole_item(spec, item, run, room)
    if run is None or not run.steps:
        return Fitted("")
    if name == "trajectory":
        return fitted_steps(run.steps, room, spec.policy, item.step, first=0)
    return _around(name, spec, item, run, room)


def _around(name: str, spec: JudgeSpec, item: Item, run: Trajectory, room: int) -> Fitted:
    if item.step is None or not 0 <= item.step < len(run.steps):
        return Fitted("")
    behind = item.step + 1
    ends = {"before": item.step, "intervention": behind, "after": behind + STEPS_AFTER}
    first = {"before": 0, "intervention": item.step}.get(name, behind)
    last = ends[name] if name in ends else behind + len(steps_after(run, item.step))
    fitted = fitted_steps(run.steps[first:last], room, spec.policy, None, first)
    return fitted if fitted.text else Fitted("(none)")


_SLACK = 0.02
"""How far probabilities that a server has rounded may be from adding up to 1."""

_NEGLIGIBLE = 0.01
"""The mass on tokens that two labels begin with, up to which it counts as mass outside the labels."""


_ROUNDED = 0.001
"""Servers round: where all that they list adds up to 1, this much may still lie on what they do not list."""

_FEWEST_LISTED = 2
"""With fewer tokens listed the one chosen has no alternative to hold it against."""


def read_decision(reply: Reply, names: Mapping[str, str]) -> Answer:
    """Return what a decision says; `names` are the options that were offered → the labels."""
    if reply.refusal:
        return Answer(None, "refused", rationale=reply.refusal, error="the model refused")
    if reply.text is None:
        return _unreadable("", "the server left the question unanswered")
    answer = json.loads(reply.text)
    probabilities: dict[str, float] = {}
    for option, probability in answer["probabilities"]:
        label = label_meant(option if isinstance(option, str) else json.dumps(option), names)
        fault = _fault(option, label, probability, probabilities)
        if label is None or fault:
            return _unreadable(reply.text, fault)
        probabilities[label] = float(probability)
    lacking = [label for label in names.values() if label not in probabilities]
    if lacking:
        return _unreadable(reply.text, f"no probability of {', '.join(map(repr, lacking))}")
    total = math.fsum(probabilities.values())
    if abs(total - 1) > _SLACK:
        return _unreadable(reply.text, f"the probabilities add up to {total:.3g}")
    likeliest = _likeliest({label: one / total for label, one in probabilities.items()}, "")
    named = answer["choice"]
    if isinstance(named, str) and likeliest.label is not None and label_meant(named, names) != likeliest.label:
        return _unreadable(likeliest.rationale, f"the choice is {named!r}, which is not the likeliest")
    return likeliest


def _fault(option: Any, label: str | None, probability: Any, known: Mapping[str, float]) -> str:
    if label is None:
        return f"an option that was not offered: {json.dumps(option)[:60]}"
    if label in known:
        return f"two probabilities of {label!r}"
    is_number = isinstance(probability, int | float) and not isinstance(probability, bool)
    if not is_number or not 0 <= probability <= 1:  # NaN is not between 0 and 1
        return f"the probability of {label!r} is {json.dumps(probability)[:40]}, not a number from 0 to 1"
    return ""


def read_first_token(reply: Reply, names: Mapping[str, str]) -> Answer:
    """Return the label whose first token is the likeliest; `names` are the labels in the prompt → the labels."""
    if reply.refusal:
        return Answer(None, "refused", rationale=reply.refusal, error="the model refused")
    if not reply.first_tokens:
        error = 'the server sent no log-probabilities: leave out `scores = "logprobs"`, or ask another server'
        return _unreadable(reply.text, error)
    if any(math.isnan(logprob) or logprob > _SLACK for _, logprob in reply.first_tokens):
        return _unreadable(reply.text, "a log-probability is above 0 or not a number")
    mass: defaultdict[str, float] = defaultdict(float)
    shared: defaultdict[str, float] = defaultdict(float)
    for token, logprob in reply.first_tokens:
        begun = [name for name in names if token.strip() and name.casefold().startswith(token.strip().casefold())]
        if len(begun) == 1:
            mass[names[begun[0]]] += math.exp(logprob)
        elif begun:
            shared[token] += math.exp(logprob)
    if shared and sum(shared.values()) > _NEGLIGIBLE:
        token = max(shared, key=shared.__getitem__)
        error = f'several labels begin with the token {token!r}: give them other names, or `permute = "names"`'
        return _unreadable(reply.text, error)
    total = sum(mass.values())
    if not total:
        shown = ", ".join(repr(token) for token, _ in reply.first_tokens[:3])
        return _unreadable(reply.text, f"no label begins with a likely token: {shown}")
    if missing := [label for label in names.values() if label not in mass]:
        return _bounded(reply, mass, missing)
    outside = max(0.0, 1 - total)
    return _likeliest({label: mass[label] / total for label in names.values()}, f"; {outside:.3f} on other tokens")


def _bounded(reply: Reply, mass: Mapping[str, float], missing: Sequence[str]) -> Answer:
    """Return the likeliest label with the least that its probability can be, where other labels are not listed.

    All that the server listed leaves a rest, which may be of the others; without any alternative it tells nothing.
    """
    listed = len(reply.first_tokens)
    none_of = f"{', '.join(map(repr, missing))} not among the {listed} tokens that the server listed"
    if listed < _FEWEST_LISTED:
        return _unreadable(reply.text, "the server listed one token: the probability of the other labels is not known")
    each = [math.exp(logprob) for _, logprob in reply.first_tokens]
    rest = max(1 - math.fsum(each), min(_ROUNDED, *each))
    best = _likeliest({label: one / (sum(mass.values()) + rest) for label, one in mass.items()}, "")
    if best.label is None:
        return best
    if mass[best.label] <= rest:
        return _unreadable(reply.text, f"{none_of}, which may be the likeliest")
    return replace(best, rationale=f"at least {best.rationale}; {none_of}", error=f"a least score: {none_of}")


def _unreadable(text: str | None, error: str) -> Answer:
    return Answer(None, "unreadable", rationale=text or "", error=error)


def _likeliest(probabilities: Mapping[str, float], more: str) -> Answer:
    """Return the likeliest label; a tie is not an answer."""
    ranked = sorted(probabilities.items(), key=lambda one: -one[1])
    shown = ", ".join(f"{label} {one:.3f}" for label, one in ranked) + more
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        return Answer(None, "abstained", rationale=shown, error=f"a tie: {ranked[0][0]} and {ranked[1][0]}")
    label, most = ranked[0]
    return Answer(label, "answered", min(1.0, most), rationale=shown)


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
