"""Dials that keep a mechanism from ever acting, although nobody left it out."""

from collections.abc import Iterator

from misstep.harness.reflexive.item_budgets import limits_of
from misstep.harness.reflexive.settings import LoopSettings


def inert(settings: LoopSettings) -> Iterator[str]:
    """Return what can never happen in a run with these dials, and why: a sentence each."""
    limits = limits_of(settings)
    seconds, attempts = limits.seconds, limits.attempts
    if seconds is not None and seconds <= settings.least_seconds_to_reflect:
        yield (
            f"Nothing is reflected on or learned, and no plateau is found: an item has {seconds:g} seconds, and a "
            f"reflection is made while more than {settings.least_seconds_to_reflect:g} are left."
        )
    gap, window, between = settings.gap_attempts, settings.plateau_window, settings.failures_between
    if settings.has("gap_detection") and attempts is not None and attempts < gap:
        yield f"No evaluator gap is found: an item has {attempts} of the {gap} attempts that show one."
    if not settings.has("re_engagement"):
        return
    first = min(between, window, gap) if settings.has("gap_detection") else min(between, window)
    if seconds is not None and seconds <= settings.least_seconds_to_re_engage:
        yield (
            f"The strategist is never asked again: an item has {seconds:g} seconds, and it is asked while at least "
            f"{settings.least_seconds_to_re_engage:g} are left."
        )
    elif attempts is not None and attempts < first:
        yield f"The strategist is never asked again: an item has {attempts} of the {first} attempts that it waits for."
    elif between < window:
        yield (
            f"No plateau is found: the strategist is asked again after {between} failures, and a plateau is {window} "
            "reflections since it was asked."
        )
