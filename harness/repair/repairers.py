"""Policies by name: what each takes, and the patching sub-agent that goes with it.

A repairer is made anew for each attempt, from the case as its setting allows it to be seen.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from harness.agent.patching import ModelPatcher
from harness.agent.policies.model import ModelPolicy, ModelSettings
from harness.agent.policies.replay import RecordedPatcher, ReplayPolicy
from harness.agent.policies.wayward import Act, WaywardPatcher, WaywardPolicy
from harness.edits import instructions
from harness.errors import UsageError
from harness.registry import Registry
from harness.repair.attempt import CaseWorkspace, MakeRepairer, Repairer
from harness.repair.search import search_repairer
from harness.trajectory import Trajectory

_WAYWARD = (Act("work", 2), Act("repeat", 4), Act("fail", 3), Act("overstep"))
"""What the wayward agent does where nothing else is asked of it: each kind of misbehaviour once."""


class RepairerOptions(Struct, frozen=True):
    """What a policy is given.

    Parameters
    ----------
    edit_format
        In which the patching sub-agent writes.
    model
        How a model is asked.
    recorded
        The runs to replay: case and number of the attempt → trajectory.
    seed
        Of policies that choose by chance.
    """

    edit_format: str = "search_replace"
    model: ModelSettings = ModelSettings()
    recorded: Mapping[tuple[str, int], Trajectory] = {}
    seed: int = 0


POLICIES: Registry[Callable[[RepairerOptions], MakeRepairer]] = Registry(
    "misstep.policies",
    {
        "model": "harness.repair.repairers:model",
        "replay": "harness.repair.repairers:replay",
        "search": "harness.repair.repairers:search",
        "wayward": "harness.repair.repairers:wayward",
    },
)
"""Name → dotted path of what makes repairers from options; entry points in the group add to it."""

ASK_NO_MODEL = frozenset({"replay", "search", "wayward"})
"""The policies that ask no model."""


def model(options: RepairerOptions) -> MakeRepairer:
    """A model that decides, and a model that writes the edits."""
    rules = instructions(options.edit_format)

    def make(place: CaseWorkspace) -> Repairer:
        settings = replace(options.model, sample=place.sample)
        return Repairer(ModelPolicy(settings), ModelPatcher(rules, settings))

    return make


def replay(options: RepairerOptions) -> MakeRepairer:
    """The commands and edits of recorded attempts, carried out again."""
    if not options.recorded:
        raise UsageError("the policy `replay` needs recorded attempts", "Name their run with --replay-run.")

    def make(place: CaseWorkspace) -> Repairer:
        recorded = options.recorded.get((place.case.id, place.sample))
        if recorded is None:
            raise UsageError(f"no attempt {place.sample} at {place.case.id!r} is recorded", "Replay another run.")
        return Repairer(ReplayPolicy(recorded), RecordedPatcher(recorded))

    return make


def search(options: RepairerOptions) -> MakeRepairer:
    """Small changes where the failure leads, without a model."""
    return search_repairer(options.edit_format)


def wayward(options: RepairerOptions) -> MakeRepairer:
    """A script that misbehaves on purpose; its edits are in the search-replace format."""
    if options.edit_format != "search_replace":
        raise UsageError("the policy `wayward` writes search_replace alone", "Leave out --format.")

    def make(place: CaseWorkspace) -> Repairer:
        paths = [path for path in place.workspace.files() if path.endswith((".py", ".js"))]
        return Repairer(WaywardPolicy(_WAYWARD, paths, options.seed + place.sample), WaywardPatcher())

    return make
