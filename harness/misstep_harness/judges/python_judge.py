"""A judge that somebody wrote in Python: any object with a name, labels and a coroutine `judge`."""

import hashlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

from misstep_harness.errors import UsageError
from misstep_harness.items import CATEGORY, Kind
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.registry import raised

_FORM = "A judge has `name`, `labels` and `async def judge(item, trajectory, ask)`: see examples/asks_twice.py."


def python_judge(attribute: Any, named: str, model: str) -> RunnableJudge:
    """Return the judge that an object, or a class to make one of, is."""
    try:
        judge_object = attribute() if isinstance(attribute, type) else attribute
    except (Exception, SystemExit) as error:  # a module from elsewhere may raise anything
        raise UsageError(f"{named!r} cannot be made: {raised(error)}", _FORM) from error
    lacking = [part for part in ("name", "labels", "judge") if not hasattr(judge_object, part)]
    if lacking or not inspect.iscoroutinefunction(judge_object.judge):
        fault = f"it has no {lacking[0]}" if lacking else "its method judge is not a coroutine (async def)"
        raise UsageError(f"{named!r} is not a judge: {fault}", _FORM)
    kind: Kind | Literal["any"] = getattr(judge_object, "kind", "any")
    if kind != "any" and kind not in get_args(Kind):
        raise UsageError(f"{named!r} has the unknown kind {kind!r}", f"Kinds are any, {', '.join(get_args(Kind))}.")
    settings = {"judge": str(judge_object.name), "judge_digest": _digest(judge_object), "model": model}
    category = str(getattr(judge_object, CATEGORY, ""))
    return RunnableJudge(judge_object, settings, kind=kind, model=model, category=category, sees_category=False)


def _digest(judge_object: Any) -> str:
    """The digest of a judge's file; that of nothing in a typed session, which has none."""
    module = inspect.getmodule(judge_object if isinstance(judge_object, ModuleType) else type(judge_object))
    file = getattr(module, "__file__", None)
    return hashlib.sha256(Path(file).read_bytes() if file else b"").hexdigest()
