"""A judge as a TOML file: what it is asked with, which labels it may give, which model answers (`JudgeFile`)."""

import hashlib
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from misstep_harness.beneath import inside
from misstep_harness.errors import InputError
from misstep_harness.exchange import NOT_EXTRA
from misstep_harness.forms import json_form, toml_form
from misstep_harness.items import PAIR_FORM, Kind, not_of_pairs
from misstep_harness.prompting import ITEM_LINE, Prompt, load_prompt, placeholders_in

Permute = Literal["none", "order", "names"]
Aggregate = Literal["majority", "mean"]
Policy = Literal["shorten_middle", "keep_ends"]
AnyKind = Literal["any"]
Api = Literal["chat", "decisions", "systemone"]
Scores = Literal["stated", "logprobs"]

OF_THE_BENCHMARK = frozenset(("labels", "benchmark_question"))
"""The placeholders that stand for what the benchmark asks, not for something of an item."""

MOST_VOTES = 1_000
"""So many votes tell shares apart by three points; all requests about an item are made before the first is sent."""

_AS_WRITTEN = ("name", "kind", "category", "votes", "aggregate", "permute", "policy", "budget")

_EXAMPLE = msgspec.json.Decoder(dict[str, str])
_FORM = "See `misstep help judge-file`."


class _ModelSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Which model answers, and how; what is `None` is left to the server.

    - `name`: The model's name. `--model` takes its place.
    - `base_url`: The address of an OpenAI-compatible server, up to `/v1`. `--base-url` takes its place.
    - `temperature`: The randomness of an answer.
    - `max_tokens`: The longest answer, in tokens.
    - `seed`: The seed, for servers that take one.
    - `structured`: The server is asked to keep to a JSON schema.
    - `api`: The endpoint: `chat`, or one that gives a probability for each label, `decisions` (`/v1/decisions` of
      OpenAI and others) or `systemone` (`/v1/systemone` of TypeSafe and others).
    - `scores`: The origin of a label's score: `stated` by the model, or `logprobs`, the probability of the label's
      first token in a chat model's answer.
    - `extra`: A table that goes into the request unchanged; `max_completion_tokens` in it takes the place of
      `max_tokens`.
    """

    name: str = ""
    base_url: str | None = None
    temperature: float | None = 0.0
    max_tokens: int | None = 1024
    seed: int | None = 0
    structured: bool = True
    api: Api = "chat"
    scores: Scores = "stated"
    extra: dict[str, Any] = {}


class _ModelTable(_ModelSettings, frozen=True, forbid_unknown_fields=True):
    """Which model answers, and how.

    - `omit`: The settings that are not sent, for a server that rejects them: TOML has no word for nothing.
    """

    omit: tuple[Literal["temperature", "max_tokens", "seed"], ...] = ()

    def settings(self) -> _ModelSettings:
        settings = {name: getattr(self, name) for name in _ModelSettings.__struct_fields__}
        omitted = {*self.omit, *(["max_tokens"] if "max_completion_tokens" in self.extra else [])}
        return _ModelSettings(**settings | dict.fromkeys(omitted))


class Example(Struct, frozen=True):
    """One example: the values of the prompt's placeholders, and the reply that they should get."""

    values: dict[str, str]
    label: str
    reasoning: str


class JudgeSpec(Struct, frozen=True):
    """A judge, with everything that its answers follow from.

    - `labels`: Label → meaning, none if it takes those of the benchmark.
    - `digest`: Covers the judge's file, its prompt and its examples.
    - `asks`, `shown`: Those of the benchmark that it is asked (`harness.judges.fit`).
    """

    name: str
    kind: Kind | AnyKind
    labels: dict[str, str]
    prompt: Prompt
    category: str = ""
    examples: tuple[Example, ...] = ()
    votes: int = 1
    aggregate: Aggregate = "majority"
    permute: Permute = "none"
    policy: Policy = "shorten_middle"
    budget: int = 24_000
    model: _ModelSettings = _ModelSettings()
    digest: str = ""
    asks: str = ""
    shown: tuple[str, ...] = ()


class JudgeFile(Struct, forbid_unknown_fields=True):
    """A judge with a prompt is a TOML file. The prompt is a Markdown file, and so a judge is written without Python.

    `misstep judge ask JUDGE FILE` shows the prompt, the reply and the verdict of one item.

    The prompt is a text with placeholders such as `{text}`. Above a line `<!-- item -->` it is the system's message,
    below it what each item is asked; without that line all of it is asked. It may open with front matter: `---`, lines
    `name:`, `version:` and `placeholders:`, and `---`. Without it, the name is the file's, the version a digest.

    - `name`: The judge's name, without a slash.
    - `kind`: The kind of items that it judges; `any` fits all of them. A judge of the kind `pair` compares `{output_a}`
      with `{output_b}`, and its labels are a, b and tie.
    - `prompt`: A Markdown file beside the judge's file, or `judges/NAME` for a shipped prompt.
    - `labels`: A list of labels, or a table of label and meaning. Without it, the benchmark's labels are used.
    - `category`: The category that the judge is about, for benchmarks that ask about several; by default its name.
      Items of another category are not asked about.
    - `examples`: A JSON Lines file beside the judge's file. Each line is `{"text": "…", "label": "…", "reasoning":
      "…"}`, with a key for each placeholder of the prompt.
    - `votes`: The number of answers to one question, at most 1,000.
    - `aggregate`: The way in which votes become one label: that of most votes, or the mean of their scores.
    - `permute`: The change from vote to vote: none, the order of the labels, or their names.
    - `policy`: The way in which a long trajectory is shortened: its middle is cut, or only its ends are kept.
    - `budget`: The highest number of tokens of a trajectory in a prompt.
    - `model`: The model that answers, and how.

    Examples
    --------
        name = "claims_success"
        kind = "text"
        prompt = "claims_success.md"

        [labels]
        yes = "the message says that the task is done"
        no = "the message says that something is left or failed"

        [model]
        name = "small-1"
        base_url = "http://127.0.0.1:8000/v1"
        max_tokens = 200
    """

    name: str
    kind: Kind | AnyKind
    prompt: str
    labels: list[str] | dict[str, str] = {}
    category: str = ""
    examples: str | None = None
    votes: int = 1
    aggregate: Aggregate = "majority"
    permute: Permute = "none"
    policy: Policy = "shorten_middle"
    budget: int = 24_000
    model: _ModelTable = _ModelTable()


def read_judge(file: Path) -> JudgeSpec:
    """Return the judge in a file, with its prompt and its examples."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot open: {error.strerror}", "`misstep judge list` lists the judges.", file=file
        ) from error
    form = toml_form(data, JudgeFile, file, _FORM)
    labels = form.labels if isinstance(form.labels, dict) else dict.fromkeys(form.labels, "")
    _check(form, labels, file)
    prompt = load_prompt(form.prompt, file.parent)
    _check_prompt(prompt, form.prompt)
    digest = hashlib.sha256(data + prompt.sha256.encode())
    examples: tuple[Example, ...] = ()
    if form.examples is not None:
        place = inside(file.parent, form.examples)
        lines = _example_lines(place)
        digest.update(b"\n".join(lines))
        examples = tuple(_example(line, prompt, labels, place, number) for number, line in enumerate(lines, 1))
    as_written = {name: getattr(form, name) for name in _AS_WRITTEN}
    return JudgeSpec(
        **as_written,
        labels=labels,
        prompt=prompt,
        examples=examples,
        model=form.model.settings(),
        digest=digest.hexdigest(),
    )


def _check(form: JudgeFile, labels: dict[str, str], file: Path) -> None:
    if not form.name.strip() or "/" in form.name:
        raise InputError(
            f"{form.name!r} is not a name for a judge",
            "Give a name that is not empty and has no slash.",
            file=file,
            field="name",
        )
    listed = form.labels if isinstance(form.labels, list) else list(labels)
    alike = {label.strip().casefold() for label in listed}
    if len(alike) != len(listed) or len(listed) == 1 or "" in alike:
        advice = "Give two or more different labels, or none to use those of the benchmark."
        raise InputError(
            "a label is empty, repeated (letter case does not count) or the only one", advice, file=file, field="labels"
        )
    if form.kind == "pair" and labels and (fault := not_of_pairs(labels)):
        raise InputError(fault, PAIR_FORM, file=file, field="labels")
    if form.votes < 1 or form.budget < 1:
        field = "votes" if form.votes < 1 else "budget"
        raise InputError("the number is below 1", "Give 1 or more.", file=file, field=field)
    if form.votes > MOST_VOTES:
        raise InputError(
            f"the number is above {MOST_VOTES:,}", "Each vote is a request per item.", file=file, field="votes"
        )
    if form.model.scores == "logprobs" and form.model.api != "chat":
        problem = f"`{form.model.api}` gives probabilities itself"
        raise InputError(problem, 'Leave out `scores`, or set `api = "chat"`.', file=file, field="model.scores")
    if reserved := sorted(NOT_EXTRA & form.model.extra.keys()):
        advice = "Use the settings of [model] for these; a judge never offers tools."
        raise InputError(f"the table sets {', '.join(reserved)}", advice, file=file, field="model.extra")
    for field, number, least in (
        ("max_tokens", form.model.max_tokens, 1),
        ("extra.max_completion_tokens", form.model.extra.get("max_completion_tokens"), 1),
        ("temperature", form.model.temperature, 0),
    ):
        # Below 1 a limit would make an answer cost less than nothing; NaN and infinity are sent as null.
        if isinstance(number, int | float) and not least <= number < float("inf"):
            raise InputError(f"{number} is out of range", f"Give {least} or more.", file=file, field=f"model.{field}")


def _check_prompt(prompt: Prompt, file: str) -> None:
    """What an item says is never part of the system's message: there it would be an instruction."""
    of_the_item = sorted(placeholders_in(prompt.system) - OF_THE_BENCHMARK)
    if of_the_item:
        message = f"{{{of_the_item[0]}}} stands above {ITEM_LINE}"
        raise InputError(message, "Put what an item says below that line.", file=file, field="placeholders")


def _example_lines(file: Path) -> list[bytes]:
    try:
        return [line for line in file.read_bytes().removeprefix(BOM_UTF8).splitlines() if line.strip()]
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", "Put the examples beside the judge.", file=file) from error


def _example(line: bytes, prompt: Prompt, labels: dict[str, str], file: Path, number: int) -> Example:
    fields = json_form(line, _EXAMPLE, file, number, "An example is an object of texts.")
    label, reasoning = fields.pop("label", ""), fields.pop("reasoning", "")
    if labels and label not in labels:
        message = f"the label {label!r} is none of {', '.join(labels)}"
        raise InputError(message, "Give one of them.", file=file, line=number, field="label")
    lacking = sorted(prompt.placeholders - OF_THE_BENCHMARK - fields.keys())
    if lacking:
        message = f"the example has no text for {{{lacking[0]}}} of the prompt"
        raise InputError(message, "Give every placeholder a text.", file=file, line=number, field=lacking[0])
    return Example(fields, label, reasoning)
