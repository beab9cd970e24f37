"""The four settings of the ablation: which feedback an agent is given after an edit (table III)."""

from msgspec import Struct

from misstep.harness.errors import UsageError


class Setting(Struct, frozen=True):
    """Which feedback an agent gets while it works; how a patch is scored does not depend on it.

    Where a run has a judge of patches, an agent with test execution is told its verdicts: a patch is sent to the judge
    after it has passed its verification (figure 1), and an agent that may not see its tests pass would learn it so.
    """

    name: str
    static_analysis: bool
    test_execution: bool


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("react", static_analysis=False, test_execution=False),
        Setting("react+static", static_analysis=True, test_execution=False),
        Setting("react+tests", static_analysis=False, test_execution=True),
        Setting("react+static+tests", static_analysis=True, test_execution=True),
    )
}
"""In the order of the paper's table III; the last is the one that went into production."""


def setting_named(name: str) -> Setting:
    """Return the setting of a name."""
    try:
        return SETTINGS[name]
    except KeyError:
        raise UsageError(f"no setting {name!r}", f"Settings: {', '.join(SETTINGS)}.") from None
