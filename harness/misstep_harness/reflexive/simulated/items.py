"""Work items of known difficulty for the simulated machine, drawn from a seed.

No agent can tell the kinds apart by what it is told: most texts are "Bring relay-3 to on." The kinds:

| kind | what makes it so |
|---|---|
| trivial | one command brings it about |
| late | one of thirty values is accepted; the journal rules out others, so that the 4th to 10th attempt finds it |
| trap | a late one whose name has "pass" in it |
| shuts | the naive command shuts the way in; another setting first, and it does not |
| shared | so with three settings, which are the same for its whole category: a lesson of one solves the next at once |
| misleading | the first of its category needs another setting before, and all others must not have it: a lesson harms |
| resets | the naive command clears the setting of a service; set that again, and all is well |
| locked | nothing changes the setting while the machine runs |
| declared | another item must be solved before, and the item says so |
| undeclared | another item must be solved before, and only the journal says so |
| last | once it is solved, half of the other settings are sealed |
| start | takes effect when the machine starts again |
| kept | takes effect then, and only with a second setting that the text names |
| gap | what is asked for comes about, and the check looks for something else |
"""

from collections.abc import Sequence
from random import Random
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.reflexive.records import WorkItem
from misstep_harness.reflexive.simulated.machine import ACCESS, OPEN, Laws, MachinePair, MachineState

Kind = Literal[
    "trivial",
    "late",
    "trap",
    "shuts",
    "shared",
    "misleading",
    "resets",
    "locked",
    "declared",
    "undeclared",
    "last",
    "start",
    "kept",
    "gap",
]

MIX: tuple[Kind, ...] = (
    *("trivial", "late", "shuts", "locked", "shared", "undeclared", "misleading", "resets"),
    *("gap", "start", "misleading", "shared", "trap", "last", "kept", "trivial"),
    *("declared", "late", "misleading", "shuts", "shared", "resets", "locked", "trivial"),
)
"""The kinds of a run's items in the order in which they are taken, over and over."""

_FAMILIES = ("relay", "valve", "lamp", "hose", "bolt", "fan", "crank", "latch")
_FAMILY_OF: dict[Kind, str] = {"shared": "coil", "misleading": "grid", "trap": "bypass"}
_GUARDS = (MachinePair("coil-shield", "on"), MachinePair("coil-drain", "on"), MachinePair("coil-spare", "on"))
"""What all settings of the category of `shared` need before, whatever the seed: a lesson of one run serves the next."""

_BRIDGE = "grid-bridge"
"""What the first setting of the category of `misleading` needs closed, and all others lifted, as it is at first."""

_VALUES = 30
_SYNONYMS = ("silent", "quiet", "hushed", "low", "muted", "soft", "still", "calm")


class World(Struct, frozen=True):
    """A machine and its items."""

    laws: Laws
    state: MachineState
    items: tuple[WorkItem, ...]
    kinds: dict[str, Kind]


def draw_world(n: int, seed: int, kinds: Sequence[Kind] = MIX) -> World:
    """Return a machine with `n` items, of `kinds` in turn."""
    drawing = _Drawing(Random(f"simulated/{seed}"))  # noqa: S311 (no secret)
    for number in range(1, n + 1):
        drawing.add(kinds[(number - 1) % len(kinds)], number)
    return drawing.world()


class _Drawing:
    """A world that is being drawn: laws, settings and items gather one by one."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._laws = Laws()
        self._settings = {ACCESS: OPEN}
        self._items: list[WorkItem] = []
        self._goals: dict[str, tuple[MachinePair, ...]] = {}
        self._kinds: dict[str, Kind] = {}

    def add(self, kind: Kind, number: int) -> None:
        family = _FAMILY_OF.get(kind) or self._random.choice(_FAMILIES)
        name = f"{family}-{number}"
        self._settings[name] = "off"
        goal, item = self._drawn(kind, WorkItem(name, family, f"Bring {name} to on."), MachinePair(name, "on"))
        self._items.append(item)
        self._goals[name] = (goal,)
        self._kinds[name] = kind

    def _drawn(self, kind: Kind, item: WorkItem, goal: MachinePair) -> tuple[MachinePair, WorkItem]:
        name, number = item.id, item.id.rpartition("-")[2]
        match kind:
            case "late" | "trap":
                return self._searched(item)
            case "shuts":
                self._guarded(goal, (MachinePair(f"key-{number}", "on"),), "off")
            case "shared":
                self._guarded(goal, _GUARDS, "off", once=True)
            case "misleading":
                is_first = "misleading" not in self._kinds.values()
                needed = MachinePair(_BRIDGE, "closed" if is_first else "lifted")
                self._guarded(goal, (needed,), "lifted", once=is_first)
            case "resets":
                needed = MachinePair(f"feed-{number}", "high")
                self._settings[needed.setting] = needed.value
                self._law(moves={str(goal): (replace(needed, value="low"),)}, services={f"pump-{number}": needed})
            case "locked":
                self._law(locked={name})
            case "declared" | "undeclared":
                other = next((one.id for one in self._items if self._kinds[one.id] == "trivial"), None)
                if other is not None:
                    self._law(waits={name: (self._goals[other][0], other)})
                    return goal, replace(item, after=(other,) if kind == "declared" else ())
            case "last":
                return goal, replace(item, last=True)
            case "start":
                self._law(at_start={name: None})
                return goal, replace(item, text=f"Bring {name} to on from the next start.", deferred=True)
            case "kept":
                keeper = MachinePair(f"keep-{number}", "yes")
                self._settings[keeper.setting] = "no"
                self._law(at_start={name: keeper})
                text = f"Bring {name} to on from the next start; {keeper} keeps it there."
                return goal, replace(item, text=text, deferred=True)
            case "gap":
                values = self._random.sample(_SYNONYMS, len(_SYNONYMS))
                return MachinePair(name, "noiseless"), replace(
                    item, text=f"Bring {name} to one of: {' '.join(values)}."
                )
        return goal, item

    def _searched(self, item: WorkItem) -> tuple[MachinePair, WorkItem]:
        values = [f"v{value}" for value in range(1, _VALUES + 1)]
        self._random.shuffle(values)
        accepted = values[3 * self._random.randrange(3, 10)]
        alike = {
            f"{item.id}={values[first]}": tuple(value for value in values[first + 1 : first + 3] if value != accepted)
            for first in range(0, _VALUES, 3)
        }
        self._law(accepted={item.id: accepted}, alike=alike)
        return MachinePair(item.id, accepted), replace(item, text=f"Bring {item.id} to one of: {' '.join(values)}.")

    def _guarded(
        self, goal: MachinePair, before: tuple[MachinePair, ...], at_first: str, *, once: bool = False
    ) -> None:
        """Shut the way in where `before` does not hold; where it is for once, it is put back to `at_first`."""
        put_back = tuple(replace(pair, value=at_first) for pair in before)
        self._settings |= {pair.setting: pair.value for pair in put_back}
        self._law(shuts={str(goal): before}, moves={str(goal): put_back} if once else {})

    def _law(self, **more: Any) -> None:
        self._laws = replace(self._laws, **{name: getattr(self._laws, name) | value for name, value in more.items()})

    def world(self) -> World:
        items = self._random.sample(self._items, len(self._items))
        for name, (_, other) in self._laws.waits.items():
            _bring_in_order(items, name, other)
        misleading = [item for item in self._items if self._kinds[item.id] == "misleading"]
        for later in misleading[1:]:
            _bring_in_order(items, misleading[0].id, later.id)
        for item in [one for one in items if self._kinds[one.id] == "last"]:
            items.remove(item)
            items.insert(len(items) // 3, item)
            others = [one.id for one in items if one.id != item.id]
            self._law(seals={str(self._goals[item.id][0]): tuple(others[::2])})
        return World(self._laws, MachineState(self._settings, {}, self._goals), tuple(items), self._kinds)


def _bring_in_order(items: list[WorkItem], first: str, second: str) -> None:
    place = {item.id: number for number, item in enumerate(items)}
    if place[first] > place[second]:
        items[place[first]], items[place[second]] = items[place[second]], items[place[first]]
