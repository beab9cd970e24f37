"""A judge that somebody wrote in Python: any object with a name, labels and a coroutine `judge`."""

import hashlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal, get_args

from msgspec import Struct

from misstep_harness.errors import UsageError
from misstep_harness.items import CATEGORY, Item, Kind, Question
from misstep_harness.judges.fit import check_fit
from misstep_harness.protocols import Ask, WrittenJudge
from misstep_harness.registry import raised
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

_FORM = "A judge has `name`, `labels` and `async def judge(item, trajectory, ask)`: see examples/asks_twice.py."


class PythonJudge(Struct, frozen=True):
    """A judge in Python with what the runner needs of it beside its `judge`."""

    judge_object: WrittenJudge
    digest: str
    model: str = ""
    uses_model: ClassVar[bool] = True
    sees_category: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Return the name that it gives itself."""
        return str(self.judge_object.name)

    @property
    def kind(self) -> Kind | Literal["any"]:
        """Return the kind of items that it is for."""
        kind: Kind | Literal["any"] = getattr(self.judge_object, "kind", "any")
        return kind

    @property
    def category(self) -> str:
        """Return the only category that it judges; empty where it declares none."""
        return str(getattr(self.judge_object, CATEGORY, ""))

    @property
    def labels(self) -> Mapping[str, str]:
        """Label → meaning."""
        labels = self.judge_object.labels
        return labels if isinstance(labels, Mapping) else dict.fromkeys(labels, "")

    def settings(self) -> dict[str, Any]:
        """Return its file's digest and its model."""
        return {"judge": self.name, "judge_digest": self.digest, "model": self.model}

    def reads_run(self, item: Item) -> bool:  # noqa: ARG002
        """Return that it looks at runs."""
        return True

    def skip_reason(self, item: Item) -> str:
        """Return an item with nothing to show is not asked about."""
        return item.skip_reason

    def fitted(self, question: Question, folder: Path) -> "PythonJudge":
        """Return the judge as it is."""
        check_fit(self, question, folder)
        return self

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:
        """Return what it says of the item."""
        verdict = await self.judge_object.judge(item, trajectory, ask)
        if not isinstance(verdict, Verdict) or verdict.item != item.id:
            raise TypeError(f"it gave {type(verdict).__name__}, not a Verdict on item {item.id!r}")
        return verdict


def python_judge(attribute: Any, named: str, model: str) -> PythonJudge:
    """Return the judge that an object, or a class to make one of, is."""
    try:
        judge_object = attribute() if isinstance(attribute, type) else attribute
    except (Exception, SystemExit) as error:  # a module from elsewhere may raise anything
        raise UsageError(f"{named!r} cannot be made: {raised(error)}", _FORM) from error
    lacking = [part for part in ("name", "labels", "judge") if not hasattr(judge_object, part)]
    if lacking or not inspect.iscoroutinefunction(judge_object.judge):
        fault = f"it has no {lacking[0]}" if lacking else "its method judge is not a coroutine (async def)"
        raise UsageError(f"{named!r} is not a judge: {fault}", _FORM)
    kind = getattr(judge_object, "kind", "any")
    if kind != "any" and kind not in get_args(Kind):
        raise UsageError(f"{named!r} has the unknown kind {kind!r}", f"Kinds are any, {', '.join(get_args(Kind))}.")
    return PythonJudge(judge_object, _digest(judge_object), model)


def _digest(judge_object: Any) -> str:
    """The digest of a judge's file; that of nothing in a typed session, which has none."""
    module = inspect.getmodule(judge_object if isinstance(judge_object, ModuleType) else type(judge_object))
    file = getattr(module, "__file__", None)
    return hashlib.sha256(Path(file).read_bytes() if file else b"").hexdigest()
