"""What agent frameworks, editors and shells print when a call failed by the agent's own doing: one list of phrases.

Looking for some forty phrases in every answer of a long run takes time. So each phrase names pieces of text of which
an answer has at least one, in lower case, wherever the phrase stands in it; a phrase is looked for only where one of
its pieces is, and pieces with a common stem only where the stem is.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

from msgspec import Struct

Fault = Literal["malformed call", "unknown tool", "invalid arguments", "failed edit", "wrong usage", "missing file"]

PHRASES: tuple[tuple[Fault, tuple[str, ...], str], ...] = (
    # The call could not be read at all.
    (
        "malformed call",
        ("pars",),
        r"(?:could not|couldn't|cannot|can't|failed to|unable to|error(?: while)?) pars(?:e|ing) (?:the |"
        r"your )?"
        r"(?:\w+ ){0,2}(?:tool|function|arguments|action|call|json)",
    ),
    (
        "malformed call",
        ("malformed", "not valid json"),
        r"\b(?:tool call|function call|tool_call|arguments?|parameters?) (?:is|are|was|were) (?:malformed|"
        r"not valid json)",
    ),
    (
        "malformed call",
        ("malformed", "unparsable", "unparseable"),
        r"\b(?:malformed|unparse?able) (?:tool|function|action|arguments|json in)",
    ),
    (
        "malformed call",
        ("valid json",),
        r"invalid json (?:in|for|was|passed|provided|arguments?)|arguments? (?:must be|is not|"
        r"are not) (?:a )?valid json",
    ),
    # mini-swe-agent and SWE-agent: the reply does not hold one command in the form asked for.
    (
        "malformed call",
        ("exactly one action", "not formatted correctly"),
        r"please always provide exactly one action|your (?:last )?output was not formatted correctly",
    ),
    ("malformed call", ("tool call", "function call"), r"no (?:valid )?(?:tool|function) calls? (?:was |were )?found"),
    # The tool does not exist.
    (
        "unknown tool",
        ("unknown", "unrecogni", "unsupported", "no such", "existent", "invalid"),
        r"\b(?:unknown|unrecogni[sz]ed|unsupported|no such|non-?existent|invalid) (?:tool|function|"
        r"action)\b(?! (?:call )?(?:argument|param|input))",
    ),
    (
        "unknown tool",
        (
            "not found",
            "not exist",
            "not available",
            "not registered",
            "not recogni",
            "not known",
            "not supported",
            "not defined",
            "not a valid",
            "unknown",
            "n't exist",
        ),
        r"\b(?:tool|function|action) (?:named |called |with name )?[`'\"]?[\w.\-]+[`'\"]? (?:was |is |"
        r"does )?"
        r"(?:not (?:found|exist|available|registered|recogni[sz]ed|known|supported|defined|a valid)|"
        r"unknown|doesn't exist)",
    ),
    (
        "unknown tool",
        ("unsupported call", "unsupported tool call", "unsupported function call"),
        r"unsupported (?:tool |function )?call\b",
    ),
    (
        "unknown tool",
        ("no tool", "no function"),
        r"no (?:tool|function) (?:named|called|with (?:the )?name|by the name)\b",
    ),
    (
        "unknown tool",
        ("is not a",),
        r"[`'\"][\w.\-]+[`'\"] is not (?:a (?:valid|known|registered|supported)|an available) (?:tool|"
        r"function|action)",
    ),
    # The arguments are wrong.
    (
        "invalid arguments",
        ("validationerror", "validation error", "schema validation", "invalid"),
        r"inputvalidationerror|input validation error|schema validation|invalid_?(?:tool_?)?(?:arguments?|"
        r"params?|parameters?)_?error",
    ),
    (
        "invalid arguments",
        ("missing",),
        r"missing (?:\d+ )?(?:a |the |one or more )?required (?:\w+ )?(?:arguments?|parameters?|propert|"
        r"fields?|keys?|inputs?)",
    ),
    (
        "invalid arguments",
        ("required arg", "required param", "required prop", "required field"),
        r"\brequired (?:argument|parameter|property|field)s?\b[^\n]{0,40}(?:missing|not provided|must be|"
        r"is required|undefined)",
    ),
    (
        "invalid arguments",
        ("is missing", "are missing", "is required", "are required"),
        r"(?:argument|parameter|property|field)s? [`'\"]?[\w.\-]+[`'\"]? (?:is|are) (?:missing|required)\b",
    ),
    ("invalid arguments", ("required propert",), r"must have required propert|(?:is a|is) required property"),
    (
        "invalid arguments",
        ("invalid", "illegal", "bad ", "wrong ", "unexpected", "unknown", "unsupported", "unrecogni"),
        r"\b(?:invalid|illegal|bad|wrong|unexpected|unknown|unsupported|unrecogni[sz]ed) "
        r"(?:value for )?(?:tool |function |input |keyword )?(?:arguments?|parameters?|params?|"
        r"`?view_range`?)\b",
    ),
    (
        "invalid arguments",
        ("() got an", "() missing", "() takes"),
        r"\(\) (?:got an unexpected|missing \d+ required|takes (?:\d+|from))",
    ),
    (
        "invalid arguments",
        ("validation error",),
        r"\d+ validation errors? for (?:call|\w*(?:args|arguments|input|params|tool|schema)\b)",
    ),
    (
        "invalid arguments",
        ("received", " got"),
        r"(?:expected|must be) (?:type )?(?:a |an )?(?:string|array|number|integer|boolean|"
        r"object)[,;]? (?:but )?(?:received|got)\b",
    ),
    ("invalid arguments", ("<tool_use_error>",), r"<tool_use_error>\s*(?:inputvalidation|invalid|error: invalid)"),
    (
        "invalid arguments",
        ("requires", "lacks"),
        r"\b(?:requires|lacks) (?:the |an? )?(?:required )?(?:argument|parameter|property|field)s?\b",
    ),
    ("invalid arguments", ("invalid type",), r"invalid type: [^\n]{1,80}, expected\b"),
    (
        "invalid arguments",
        ("must be a",),
        r"\bmust be an? (?:valid |positive |non-empty )?(?:number|string|integer|boolean|array|list|object|float)\b",
    ),
    # An edit did not fit the file.
    (
        "failed edit",
        ("no replacement", "not appear", "no change"),
        r"no replacement (?:was|were) (?:performed|made)|did not appear verbatim|no changes? (?:was|"
        r"were) (?:made|applied)\b",
    ),
    (
        "failed edit",
        ("not found", "not be found", "not match", "not exist", "not appear"),
        r"(?:string|text|snippet|content|old_str(?:ing)?|oldstring|search (?:block|text|string)|"
        r"old text) "
        r"(?:to (?:replace|be replaced|find|search) )?(?:(?:was|is|could) )?(?:not (?:be )?found|"
        r"not match|does not (?:exist|match|appear))",
    ),
    (
        "failed edit",
        ("not find", "n't find", "to find"),
        r"(?:could not|couldn't|cannot|can't|failed to|unable to|"
        r"did not) find (?:the )?(?:\w+ )?(?:string|text|old_str|oldstring|context|expected lines|match|"
        r"block)",
    ),
    (
        "failed edit",
        ("patch", "hunk"),
        r"(?:patch|hunk)\b[^\n]{0,40}(?:does not apply|did not apply|not apply|failed|rejected|"
        r"could not be applied)|patch failed|corrupt patch|malformed patch",
    ),
    (
        "failed edit",
        ("failed to", "invalid", "no valid"),
        r"failed to apply (?:the )?(?:patch|edit|diff|change)|(?:invalid|no valid) (?:patch|hunk|context)\b|"
        r"failed to find (?:expected lines|context)",
    ),
    (
        "failed edit",
        ("block failed", "failed to", "0 occurrences", "found 0"),
        r"search/?replace block failed|failed to (?:exactly )?match|0 occurrences (?:found|of)|"
        r"found 0 (?:matches|occurrences)",
    ),
    (
        "failed edit",
        ("occurrences", "matches", "not unique"),
        r"multiple (?:occurrences|matches) (?:of|found|for)|found \d+ (?:matches|"
        r"occurrences)[^\n]{0,60}(?:unique|replace_all|expected 1|but)|(?:is|are) not unique",
    ),
    (
        "failed edit",
        ("new_str",),
        r"old_str(?:ing)? and new_str(?:ing)? (?:are|must be)[^\n]{0,20}(?:same|identical|different)",
    ),
    (
        "failed edit",
        ("not been read yet", "file first", "file before", "modified since"),
        r"file has not been read yet|must (?:first )?(?:read|view|open) (?:the )?file (?:first|before)|"
        r"(?:file )?has been (?:unexpectedly )?modified since",
    ),
    (
        "failed edit",
        ("nothing was", "not appear"),
        r"\bnothing was (?:replaced|changed|edited)|does not appear (?:verbatim|in|exactly)",
    ),
    # SWE-agent refuses edits that break the syntax, and edits outside the file.
    (
        "failed edit",
        ("your edit", "proposed edit", "not applied"),
        r"your (?:proposed )?edit (?:has|have|command) [^\n]{0,40}(?:syntax error|not applied|failed)|"
        r"edit (?:was )?not applied",
    ),
    # A shell or a program does not understand the command line.
    (
        "wrong usage",
        ("not found", "not recogni"),
        r"^(?:\S*sh: )?(?:eval: )?(?:line \d+: |\d+: )?[^\s:]+:+ (?:command )?not found$|"
        r"command not found: \S+$"
        r"|^[^\n]{0,40}: [^\n]{0,60}: command not found$|is not recogni[sz]ed as an internal or external",
    ),
    (
        "wrong usage",
        ("unrecogni", "unknown", "invalid", "illegal", "unexpected", "ambiguous"),
        r"(?:unrecogni[sz]ed|unknown|invalid|illegal|unexpected|ambiguous) (?:command[- ]line )?(?:option|"
        r"flag|switch|arguments?)\b",
    ),
    (
        "wrong usage",
        ("no such", "is not a", "unknown"),
        r"no such (?:option|command|subcommand)\b|is not a \w+ command\b|unknown (?:sub)?command",
    ),
    (
        "wrong usage",
        ("usage: ", "the following arg", "one of the arg", "option requires"),
        r"^usage: [\s\S]{0,400}\berror: |(?:the following|one of the) arguments? (?:are|is) required|"
        r"option requires an argument",
    ),
    (
        "wrong usage",
        ("unexpected", "unterminated", "missing"),
        r"syntax error near unexpected token|unexpected eof while looking for|unterminated (?:quoted|`s'|"
        r"address)|missing (?:argument to|operand)",
    ),
    ("wrong usage", ("usage: ",), r"^error: [^\n]*\n+usage: |\Ausage: [^\n]+(?:\n[^\n]*){0,2}\Z"),
    ("wrong usage", ("no such", "cannot execute"), r"no such (?:file or directory)?[^\n]{0,10}exec|cannot execute"),
    # The file that a tool was to read is not there.
    (
        "missing file",
        ("no such file", "not exist", "not found", "n't exist", "cannot find the"),
        r"(?:no such file or directory|file (?:does not exist|not found|doesn't exist)|"
        r"path [^\n]{0,120}does not exist|cannot find the (?:file|path))",
    ),
)
"""What is wrong, pieces of which a matching text has at least one, and the phrase; the first that matches counts."""

_STEMS = (
    "valid", "not ", "no ", "n't ", "requir", "missing", "unk", "tch", "pars", "tool", "unsupported", " got", "() ",
    "edit", "occurrences", " arg", "file ", "fail", "propert",
)  # fmt: skip
"""Pieces of pieces: chosen so that few have to be looked for where nothing is."""


class _Phrase(Struct, frozen=True):
    fault: Fault
    needs: frozenset[str]
    pattern: re.Pattern[str]


_ALL = tuple(
    _Phrase(fault, frozenset(needs), re.compile(phrase, re.IGNORECASE | re.MULTILINE))
    for fault, needs, phrase in PHRASES
)


def first_complaint(text: str, faults: frozenset[Fault]) -> tuple[Fault, re.Match[str]] | None:
    """The first phrase of the list that stands in a text, of those about `faults`, and where; `None` for none."""
    phrases, pieces_by_stem = _about(faults)
    lowered = text.lower()
    present = []
    for stem, pieces in pieces_by_stem:
        if stem in lowered:
            present += [piece for piece in pieces if piece in lowered]
    if not present:
        return None
    for phrase in phrases:
        if not phrase.needs.isdisjoint(present):
            match = phrase.pattern.search(text)
            if match:
                return phrase.fault, match
    return None


@cache
def _about(faults: frozenset[Fault]) -> tuple[tuple[_Phrase, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    phrases = tuple(phrase for phrase in _ALL if phrase.fault in faults)
    return phrases, _by_stem(piece for phrase in phrases for piece in sorted(phrase.needs))


def _by_stem(pieces: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Pieces under a stem that they have in common; a piece without one is its own."""
    found: dict[str, dict[str, None]] = {}
    for piece in pieces:
        found.setdefault(next((stem for stem in _STEMS if stem in piece), piece), {})[piece] = None
    return tuple((stem, tuple(under)) for stem, under in found.items())
