"""Program repair without a model: the policy `search` and the patcher that writes its edits."""

from collections.abc import Callable

from misstep.harness.repair.attempt import CaseWorkspace, Repairer
from misstep.harness.repair.search.policy import SearchPatcher, SearchPolicy
from misstep.harness.repair.search.testing import Effort


def search_repairer(format_name: str, effort: Effort = Effort()) -> Callable[[CaseWorkspace], Repairer]:  # noqa: B008
    """Return what makes the policy and its patcher for a case, its edits in a format."""

    def make(place: CaseWorkspace) -> Repairer:
        policy = SearchPolicy(place, effort)
        return Repairer(policy, SearchPatcher(format_name), policy.notes)

    return make


__all__ = ["Effort", "SearchPatcher", "SearchPolicy", "search_repairer"]
