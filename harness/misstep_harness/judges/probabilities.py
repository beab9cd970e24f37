"""The probabilities of labels → an answer: the likeliest label and its probability, or none if they do not add up."""

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from misstep_harness.exchange import Reply
from misstep_harness.judges.replies import Answer, label_meant

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
