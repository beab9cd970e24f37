"""A judge asked about one item: whatever it raises becomes a verdict without a label."""

from misstep_harness.errors import InputError, MisstepError
from misstep_harness.items import Item
from misstep_harness.journal.records import encode_lines
from misstep_harness.protocols import Ask, FittedJudge
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict


async def answered(judge: FittedJudge, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:
    """The verdict of a judge on an item; `failed` where the judge raises or gives what cannot be written down."""
    try:
        verdict = await judge.judge(item, trajectory, ask)
        encode_lines([verdict])  # a verdict that cannot be encoded fails here and not in the journal
    except InputError as error:
        return unjudged(judge, item, error.line())
    except MisstepError:
        raise
    except Exception as error:  # noqa: BLE001 (the boundary around one item)
        message = " ".join(str(error).split())
        return unjudged(judge, item, f"judging it raised {type(error).__name__}{message and f': {message}'}")
    return verdict


def unjudged(judge: FittedJudge, item: Item, reason: str) -> Verdict:
    """Return the verdict on an item that the judge could not judge."""
    model, prompt = getattr(judge, "model", None), getattr(judge, "prompt", None)
    return Verdict(item.id, judge.name, None, "failed", model=model or None, prompt=prompt, error=reason)
