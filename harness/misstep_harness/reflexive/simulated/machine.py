"""The simulated machine: named settings, what each of them does to the others, and a journal of what went wrong."""

import hashlib
import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

ACCESS = "access"
OPEN, SHUT = "open", "shut"

_PAIR = re.compile(r"(?<![\w=-])([a-z0-9-]++)=([a-z0-9]++)(?![\w=])")

_encode = msgspec.json.Encoder(order="sorted").encode


class MachinePair(Struct, frozen=True, order=True):
    """A setting and a value, written `relay-3=7`."""

    setting: str
    value: str

    def __str__(self) -> str:
        return f"{self.setting}={self.value}"


class Laws(Struct, frozen=True, omit_defaults=True):
    """What no agent is told and no command changes.

    - `locked`: The settings that nothing changes while the machine runs.
    - `accepted`: Setting → the one value that it takes without harm.
    - `alike`: A refused pair → other values that are refused for the same cause, which the journal then names.
    - `shuts`: A pair → the pairs that must hold before, or else the way in is shut.
    - `moves`: A pair → the pairs that it brings about beside itself.
    - `waits`: Setting → the pair that must hold before it takes any value, and the item that brings this about.
    - `seals`: A pair → the settings that nothing changes from then on.
    - `at_start`: The settings that only take a value when the machine starts → the pair that must hold then, or else
      the value is lost; `None` where none must.
    - `services`: Service → the pair that it needs.
    """

    locked: frozenset[str] = frozenset()
    accepted: dict[str, str] = {}
    alike: dict[str, tuple[str, ...]] = {}
    shuts: dict[str, tuple[MachinePair, ...]] = {}
    moves: dict[str, tuple[MachinePair, ...]] = {}
    waits: dict[str, tuple[MachinePair, str]] = {}
    seals: dict[str, tuple[str, ...]] = {}
    at_start: dict[str, MachinePair | None] = {}
    services: dict[str, MachinePair] = {}


class MachineState(Struct, frozen=True):
    """All of the machine that a snapshot keeps; `pending` takes effect at its next start."""

    settings: dict[str, str]
    pending: dict[str, str]
    checks: dict[str, tuple[MachinePair, ...]]

    @property
    def reachable(self) -> bool:
        """Return whether the way in, which every command takes, is open."""
        return self.settings[ACCESS] == OPEN

    def holds(self, pair: MachinePair) -> bool:
        """Return whether a setting has a value."""
        return self.settings.get(pair.setting) == pair.value

    def services_down(self, laws: Laws) -> list[str]:
        """Return the services that lack what they need."""
        return [name for name, needed in laws.services.items() if not self.holds(needed)]


def digest_of(value: object) -> str:
    """Return the sha256 of a value as canonical JSON."""
    return hashlib.sha256(_encode(value)).hexdigest()


def read_pairs(text: str) -> list[MachinePair]:
    """Return the pairs in a text of `setting=value` words; other words are not read."""
    return [MachinePair(*pair) for pair in _PAIR.findall(text)]


def configured(state: MachineState, pairs: Sequence[MachinePair], laws: Laws) -> tuple[MachineState, list[str]]:
    """Set one pair after the other, as far as the way in stays open."""
    lines: list[str] = []
    for pair in pairs:
        if not state.reachable:
            lines.append(f"{pair} never arrived, for the way in was shut by then")
            continue
        state, replies = _set(state, pair, laws)
        lines += replies
    lines += [f"service {name} is down and needs {laws.services[name]}" for name in state.services_down(laws)]
    return state, lines


def _set(state: MachineState, pair: MachinePair, laws: Laws) -> tuple[MachineState, list[str]]:
    name = pair.setting
    if name not in state.settings:
        return state, [f"{name} is not a setting of this machine"]
    if name in laws.locked:
        return state, [f"{name} is burnt in and takes no value while the machine runs"]
    for seal, under in laws.seals.items():
        if name in under and state.holds(read_pairs(seal)[0]):
            return state, [f"{name} is under the seal {seal}"]
    if name in laws.waits and not state.holds(laws.waits[name][0]):
        return state, [f"{name} takes no value until item {laws.waits[name][1]} is done"]
    if name in laws.at_start:
        pending = msgspec.structs.replace(state, pending=state.pending | {name: pair.value})
        return pending, [f"{pair} is noted for the next start"]
    lines = []
    settings = state.settings | {name: pair.value}
    wanted = laws.accepted.get(name)
    if wanted is not None and pair.value != wanted:
        refused = [str(pair), *(f"{name}={other}" for other in laws.alike.get(str(pair), ()))]
        lines.append(f"out of range: {' '.join(refused)}")
    missing = next((one for one in laws.shuts.get(str(pair), ()) if not state.holds(one)), None)
    if missing is not None:
        settings[ACCESS] = SHUT
        lines.append(f"the way in was shut by {pair} while {missing} did not hold")
    settings |= {moved.setting: moved.value for moved in laws.moves.get(str(pair), ())}
    return msgspec.structs.replace(state, settings=settings), lines


def started(state: MachineState, laws: Laws) -> tuple[MachineState, list[str]]:
    """Start the machine again: what was noted for the start takes effect, or is lost."""
    settings, lines = dict(state.settings), []
    for name, value in state.pending.items():
        needed = laws.at_start.get(name)
        if needed is None or state.holds(needed):
            settings[name] = value
        else:
            lines.append(f"{name}={value} was lost at the start, for {needed} did not hold")
    return msgspec.structs.replace(state, settings=settings, pending={}), lines
