"""A way to ask without a model, for rules and other runs that need none."""

from misstep_harness.exchange import Failure, Outcome, Request
from misstep_harness.protocols import Ask


class NoModel:
    """There is nobody to ask; whoever asks gets a failure."""

    model = ""

    async def __call__(self, request: Request) -> Outcome:  # noqa: ARG002
        """Return the failure."""
        return Failure("bad_request", "A model is asked, and none is named.")


NO_MODEL: Ask = NoModel()
