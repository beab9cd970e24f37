"""Make repairers by the names of their policies, from the case as its setting allows it to be seen."""

from collections.abc import Callable, Mapping
from functools import partial
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.agent.policies.model import ModelPatcher, ModelPolicy, ModelSettings
from misstep.harness.agent.policies.replay import DirectPolicy, RecordedPatcher, ReplayPolicy
from misstep.harness.agent.policies.slips import FAILURES, LOOPS, Ground, TextEdit, looked_at, unasked_edits
from misstep.harness.agent.policies.wayward import Slip, WaywardPolicy
from misstep.harness.edits import instructions
from misstep.harness.errors import UsageError
from misstep.harness.generate.voice import Voice
from misstep.harness.registry import Registry
from misstep.harness.repair.attempt import CaseWorkspace, MakeRepairer, Repairer
from misstep.harness.repair.case import instruction_of
from misstep.harness.repair.search.policy import search_repairer
from misstep.harness.trajectory import Trajectory

_WAYWARD = (
    ("infinite_loop", LOOPS[:1], 4),
    ("tool_call_failure", FAILURES, 3),
    ("unrequested_changes", (unasked_edits,), 1),
)
"""What the wayward agent slips into one after the other: the category, its forms, and for how many commands."""


class RepairerOptions(Struct, frozen=True):
    """What a policy is given.

    - `patcher_model`: The model of the patching sub-agent; by default the same.
    - `recorded`: The runs to replay: case and number of the attempt → trajectory.
    """

    edit_format: str = "search_replace"
    model: ModelSettings = ModelSettings()
    recorded: Mapping[tuple[str, int], Trajectory] = {}
    seed: int = 0
    patcher_model: str = ""


POLICIES: Registry[Callable[[RepairerOptions], MakeRepairer]] = Registry(
    "misstep.policies",
    {
        "direct": "misstep.harness.repair.repairers:direct",
        "model": "misstep.harness.repair.repairers:model",
        "replay": "misstep.harness.repair.repairers:replay",
        "search": "misstep.harness.repair.repairers:search",
        "wayward": "misstep.harness.repair.repairers:wayward",
    },
)
"""Name → dotted path of what makes repairers from options; entry points in the group add to it."""

_LOOKS = 4
ASK_NO_MODEL = frozenset({"replay", "search", "wayward"})


def model(options: RepairerOptions) -> MakeRepairer:
    """Return a model that decides, and a model that writes the edits."""
    return lambda place: Repairer(ModelPolicy(replace(options.model, sample=place.sample)), _patcher(options, place))


def direct(options: RepairerOptions) -> MakeRepairer:
    """Return the patching sub-agent alone, asked once with the instruction of a case."""
    return lambda place: Repairer(DirectPolicy(*instruction_of(place.case)), _patcher(options, place))


def _patcher(options: RepairerOptions, place: CaseWorkspace) -> ModelPatcher:
    name = options.patcher_model or options.model.name
    settings = replace(options.model, name=name, sample=place.sample)
    return ModelPatcher(partial(instructions, options.edit_format), settings)


def replay(options: RepairerOptions) -> MakeRepairer:
    """Return the commands and edits of recorded attempts, carried out again."""
    if not options.recorded:
        raise UsageError("the policy `replay` needs recorded attempts", "Name their run with --replay-run.")

    def make(place: CaseWorkspace) -> Repairer:
        recorded = options.recorded.get((place.case.id, place.sample))
        if recorded is None:
            raise UsageError(f"no attempt {place.sample} at {place.case.id!r} is recorded", "Replay another run.")
        return Repairer(ReplayPolicy(recorded), RecordedPatcher(recorded))

    return make


def search(options: RepairerOptions) -> MakeRepairer:
    """Return small changes where the failure leads, without a model."""
    return search_repairer(options.edit_format)


def wayward(options: RepairerOptions) -> MakeRepairer:
    """Return a script that misbehaves on purpose; its edits are in the search-replace format."""
    if options.edit_format != "search_replace":
        raise UsageError("the policy `wayward` writes search_replace alone", "Leave out --format.")

    def make(place: CaseWorkspace) -> Repairer:
        random = Random(f"{options.seed + place.sample}")  # noqa: S311 -- no secret
        workspace, voice = place.workspace, Voice(random, "development")
        paths = tuple(path for path in workspace.files() if path.endswith((".py", ".js")))
        firsts = {path: workspace.read(path).decode(errors="replace").split("\n", 1)[0] for path in paths}
        # An edit that nobody asked for is a remark above a file's first line.
        remarks = tuple(TextEdit(at, first, f"# Looked at by an agent.\n{first}", at) for at, first in firsts.items())
        ground = Ground(voice, paths, tuple(path.rpartition("/")[2] for path in paths), remarks, remarks)
        commands = [(category, lasts, random.choice(forms)(ground, random)) for category, forms, lasts in _WAYWARD]
        slips = [Slip((category,), 1, lasts, one.command, one.undo) for category, lasts, one in commands]
        policy = WaywardPolicy([looked_at(path, ground.voice) for path in ground.paths[:_LOOKS]], slips)
        return Repairer(policy, policy)

    return make
