"""Find failures of what an environment needs from outside: certificates, its clock, names, proxies, registries.

The words are those of the environment: of the harness's log, of what a command printed, of the tests' log. It is no
cause where the task is about such things, where the agent touched them, or where the same came through later.
"""

import re

from misstep_harness.classifiers.tools import LOOKS
from misstep_harness.triage.rules.events import Event, event_in, outside_event
from misstep_harness.triage.rules.run_record import RecordedCommand, TextRun
from misstep_harness.triage.rules.verdicts import Attribution, infrastructure
from misstep_harness.triage.statements import as_told

_ASKED = re.compile(
    r"\b(?:certificates?|certs?|tls|ssl|x509|openssl|clocks?|ntp|prox(?:y|ies)|dns|resolv\w+|hostnames?|nginx"
    r"|rate[ -]?limit\w*|time ?zones?|429|50[0234])\b",
    re.IGNORECASE,
)
_TOUCHED = re.compile(
    r"\bdate (?:-s|--set|\d)|\btimedatectl\b|\bfaketime\b|\bhwclock\b|/etc/(?:hosts|resolv|ssl|pki|apt|pip|ca-cert)"
    r"|\bpip config\b|\b(?:npm|git) config\b|\w_proxy=|\bopenssl\b|\.(?:pem|crt|key|pfx)\b|\bip(?:tables| link)\b"
    r"|\bupdate-ca\b|\b(?:SSL|REQUESTS|CURL)_\w+=|\bnginx\b",
    re.IGNORECASE,
)
_OFFLINE = re.compile(r"resol(?:ve|ution|ving)|name or service|no such host|eai_again", re.IGNORECASE)
"""What is printed as well where a sandbox has no network on purpose."""

_OWN_HOST = re.compile(r"\b(?:localhost|127\.0\.0\.\d|0\.0\.0\.0|\[?::1\]?)(?=[:/\s]|$)")
_FIRST = 2


def broke_outside(run: TextRun) -> Attribution | None:
    """Infrastructure, where what the environment needs from outside failed and nobody put it right."""
    if (event := outside_event(run.own)) is not None:
        return infrastructure(event, "The harness tells that what the environment needs from outside failed.", [])
    if _ASKED.search(re.sub(r"\bhttps?://\S+", " ", run.access.instruction)):
        return None
    for place, command in enumerate(run.commands):
        event = _event_of(run, command)
        before, after = run.commands[: place + 1], run.commands[place + 1 :]
        if event is None or any(_TOUCHED.search(one.line) for one in before) or _came_through(command, run, after):
            continue
        if not (run.failure.asserted and _OFFLINE.search(event.line)):
            rationale = "A command of the agent failed by what the environment needs from outside, up to the end."
            return infrastructure(event, rationale, [command.evidence(3)], [command.step])
    touched = any(_TOUCHED.search(command.line) for command in run.commands)
    event = event_in(run.log.text, f"logs/{run.log.name}", "outside") if run.log.name and not touched else None
    if event is not None and not run.failure.asserted:
        return infrastructure(event, "The tests failed by what the environment needs from outside.", [])
    return None


def _event_of(run: TextRun, command: RecordedCommand) -> Event | None:
    """The event that a command met, where it is not known to have succeeded and does not only show a text."""
    words = command.line.split()
    program = words[0].rpartition("/")[2] if words else ""
    told = as_told(command.output)
    if command.code == 0 or program in LOOKS or _OWN_HOST.search(f"{command.line} {told}"):
        return None
    if any(word in run.access.instruction for word in words[1:] if word.endswith((".log", ".txt"))):
        return None
    event = event_in(command.output, str(command.step), "outside")
    return event and Event(event.subcategory, str(command.step), event.line)


def _came_through(command: RecordedCommand, run: TextRun, after: tuple[RecordedCommand, ...]) -> bool:
    start = command.line.split()[:_FIRST]
    return any(one.line.split()[:_FIRST] == start and not one.failed and _event_of(run, one) is None for one in after)
