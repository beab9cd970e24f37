"""The judge of the patches that `misstep repair run` makes, and its model."""

from typing import TYPE_CHECKING, Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.options.groups import OptionGroup
from misstep.options.model import ModelOptions

if TYPE_CHECKING:
    from misstep.harness.protocols import FittedJudge


class PatchJudgeOptions(OptionGroup, frozen=True):
    """The judge of patches and its model."""

    panel = "Patch judge"
    patch_judge: Annotated[
        str,
        typer.Option(metavar="JUDGE", help="Judge of the patches, as in `judge run`; patch_judge is the shipped one."),
    ] = ""
    judge_model: Annotated[
        str, typer.Option(metavar="M", help="Model of the patch judge; by default its own, then --model.")
    ] = ""

    def judge(self, known: ModelOptions, *, alone: bool) -> "tuple[FittedJudge | None, str | None]":
        """Return the judge of patches, and the address of its model; `alone` says that nothing else asks one."""
        from misstep.harness.repair.validators.patch_judge import fitted_to_patches
        from misstep.harness.runs.judging.known_judges import known_judge

        if not self.patch_judge:
            if self.judge_model:
                raise UsageError("--judge-model without a judge", "Name the judge with --patch-judge.")
            return None, None
        if known.local and self.judge_model:
            raise UsageError("--local has its own model", "Leave out --judge-model.")
        judge = known_judge(
            self.patch_judge, model=self.judge_model or (known.model if known.local else ""), base_url=known.base_url
        )
        if not getattr(judge, "model", ""):
            judge = known_judge(self.patch_judge, model=known.model, base_url=known.base_url)
        address: str | None = getattr(judge, "base_url", None)
        if address and address != known.base_url and not alone:
            raise UsageError(
                f"the judge {judge.name} names a server of its own, {address}",
                "One server answers the agent and the judge: name it with --base-url.",
            )
        return fitted_to_patches(judge), address
