"""Name what goes to a model and what comes back: a `Reply`, or a `Failure`, never an exception.

A request is sent as one JSON object,

    {"model": "small-1", "messages": [{"role": "user", "content": "Is it solved?"}], "temperature": 0.0, "seed": 7}

and its key is the SHA-256 of that object with sorted keys and the number of the sample. Neither address nor API key is
part of it, so that answers kept under it serve whoever asks the same of another server.
"""

import hashlib
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from misstep_harness.escaping import without_surrogates

Role = Literal["system", "user", "assistant"]

FailureKind = Literal[
    "rate_limited",
    "quota",
    "server",
    "connection",
    "timeout",
    "malformed",
    "too_large",
    "bad_request",
    "unauthorised",
    "budget",
    "circuit_open",
]

TRANSIENT: frozenset[FailureKind] = frozenset({"rate_limited", "server", "connection", "timeout", "malformed"})
"""What may go better when it is asked again."""

NOT_EXTRA = frozenset(
    {"model", "messages", "temperature", "max_tokens", "seed", "response_format", "logprobs", "n", "stream"}
    | {
        "top_logprobs",
        "input",
        "questions",
        "state",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "functions",
        "function_call",
        "web_search_options",
        "modalities",
    }
)
"""What no request has but by a parameter, and what none has at all: nothing in an item may come to run a tool."""

LOCAL_MODEL = "smollm2-135m"
"""The small model of `--local`, which tests a set-up."""

ADDRESS = "OPENAI_BASE_URL"
"""The environment variable that names a server."""

_canonical = msgspec.json.Encoder(order="sorted").encode


class Message(Struct, frozen=True, gc=False):
    """One turn of a conversation."""

    role: Role
    content: str


class Function(Struct, frozen=True):
    """A function that a model may call, with the meanings of its arguments, all of them texts."""

    name: str
    purpose: str
    arguments: dict[str, str] = {}
    optional: tuple[str, ...] = ()

    def body(self) -> dict[str, Any]:
        """Return what is sent, as values for JSON."""
        properties = {name: {"type": "string", "description": meaning} for name, meaning in self.arguments.items()}
        required = [name for name in self.arguments if name not in self.optional]
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        function = {"name": self.name, "description": self.purpose, "parameters": schema}
        return {"type": "function", "function": function}


DecisionApi = Literal["decisions", "systemone"]

QUESTION = "label"
_MOST_OF_A_DECISION = 64
"""How many tokens an answer with a probability for each option is taken to have; servers hardly charge for any."""


class DecisionQuestion(Struct, frozen=True):
    """A closed question for an endpoint that answers with a probability for each option and writes no text.

    - `api`: `decisions` is OpenAI's form (`/v1/decisions`), `systemone` that of TypeSafe's Jev (`/v1/systemone`).
    - `options`: Option → what it means, which may be empty.
    """

    api: DecisionApi
    options: dict[str, str]

    def body(self, model: str, instructions: str, text: str) -> dict[str, Any]:
        """Return what is sent, as values for JSON."""
        if self.api == "systemone":
            criteria = {name: meaning or None for name, meaning in self.options.items()}
            question = {"type": "choice", "instructions": instructions, "criteria": criteria}
            return {"model": model, "state": text, "questions": {QUESTION: question}}
        choices = [
            {"value": name, "description": meaning} if meaning else {"value": name}
            for name, meaning in self.options.items()
        ]
        choice = {"type": "choice", "name": QUESTION, "instructions": instructions, "choices": choices}
        return {"model": model, "input": text, "questions": [choice]}


class FunctionCall(Struct, frozen=True):
    """A model's call of a function, with the arguments as it wrote them: JSON, if it kept to that."""

    name: str
    arguments: str


class Request(Struct, frozen=True, omit_defaults=True):
    """One question to one model.

    - `model`, `messages`, `temperature`, `max_tokens`, `seed`: As the chat completions endpoint has them; `None` leaves
      the server its default.
    - `schema`: A JSON schema that the answer is to follow; `None` asks for plain text.
    - `logprobs`: Whether the log-probability of each token of the answer is asked for.
    - `top_logprobs`: Of how many of the likeliest tokens in each place.
    - `decision`: The closed question that an endpoint for decisions is asked; the system message is its instructions,
      and all other messages are what it is about.
    - `sample`: Which of several equal questions this is: part of the key and not of what is sent.
    - `extra`: Further fields of the body that some servers know (`reasoning_effort`, `cache_prompt`,
      `max_completion_tokens`).
    - `functions`: What the model may call; only an agent's loop offers any, and carries out none but its own commands.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    schema: dict[str, Any] | None = None
    logprobs: bool = False
    sample: int = 0
    extra: dict[str, Any] = {}
    functions: tuple[Function, ...] = ()
    top_logprobs: int = 0
    decision: DecisionQuestion | None = None

    def __post_init__(self) -> None:
        if reserved := sorted(NOT_EXTRA & self.extra.keys()):
            raise ValueError(f"extra cannot set {', '.join(reserved)}")

    def body(self) -> dict[str, Any]:
        """Return what is sent, as values for JSON."""
        if self.decision is not None:
            instructions = "\n\n".join(one.content for one in self.messages if one.role == "system")
            text = "\n\n".join(one.content for one in self.messages if one.role != "system")
            sent = (without_surrogates(instructions), without_surrogates(text))
            return self.decision.body(self.model, *sent) | self.extra
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": message.role, "content": without_surrogates(message.content)} for message in self.messages
            ],
        }
        if self.temperature is not None:
            body["temperature"] = float(self.temperature)  # 0 and 0.0 are one question
        options = {"max_tokens": self.max_tokens, "seed": self.seed, "top_logprobs": self.top_logprobs or None}
        body |= {name: value for name, value in options.items() if value is not None}
        if self.schema is not None:
            named = {"name": "answer", "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        if self.logprobs:
            body["logprobs"] = True
        if self.functions:
            body["tools"] = [function.body() for function in self.functions]
        return body | self.extra

    @property
    def path(self) -> str:
        """Return where it is sent, behind the server's address."""
        return "/chat/completions" if self.decision is None else f"/{self.decision.api}"

    def content(self) -> bytes:
        """Return what is sent, as JSON with sorted keys."""
        return _canonical(self.body())

    def key(self) -> str:
        """Return the name under which the answer is kept: 64 hexadecimal digits."""
        return hashlib.sha256(b'{"body":%b,"sample":%d}' % (self.content(), self.sample)).hexdigest()

    def most_tokens_out(self) -> int | None:
        """Return how many tokens the answer may have at most; `None` where nothing bounds it."""
        if self.decision is not None:
            return _MOST_OF_A_DECISION
        bounds = (self.max_tokens, self.extra.get("max_completion_tokens"))
        return min((bound for bound in bounds if isinstance(bound, int)), default=None)


class Reply(Struct, frozen=True, omit_defaults=True):
    """What a model answered, whatever that is: text, a refusal, nothing, half a sentence.

    `finish` is the server's own word (`stop`, `length`, `content_filter`, …); tokens and `cost_usd` are `None` where
    the server did not say or no price is known; `seconds` is what the last attempt took; `raw` is the whole body. Of a
    reply that is `cached` all that is the reply's first time: nothing was spent now. `unstructured` says that a schema
    was to be kept to and that the server takes none. `calls` are the functions that the model calls. `first_tokens` are
    the likeliest tokens in the first place of the answer, with their log-probabilities.
    """

    text: str | None
    refusal: str | None
    finish: str | None
    model: str
    input_tokens: int | None
    output_tokens: int | None
    seconds: float
    cost_usd: float | None
    cached: bool = False
    attempts: int = 1
    raw: str = ""
    unstructured: bool = False
    calls: tuple[FunctionCall, ...] = ()
    first_tokens: tuple[tuple[str, float], ...] = ()


class Failure(Struct, frozen=True, omit_defaults=True):
    """Why a request has no answer: a kind to act on and a sentence to show.

    `seconds` is what all attempts took together, with the waits between them but for those that the server asked for;
    `retry_after` is how many seconds the server asked to wait.
    """

    kind: FailureKind
    sentence: str
    attempts: int = 1
    raw: str = ""
    seconds: float = 0.0
    retry_after: float | None = None


Outcome = Reply | Failure


class Client(Protocol):
    """Anything that can be asked."""

    async def ask(self, request: Request) -> Outcome:
        """Return the outcome of one request; a failure is a value."""

    async def close(self) -> None:
        """Give back what is held: connections, files."""
