"""Table 6 beside what was planted: the reasons of live sessions follow from their categories and from who heeds."""

from msgspec.structs import replace

from misstep_analysis.observer.recovery_codes import planted_reasons, reasons_table
from misstep_harness.live_session import Episode
from tests.analysis.observer.recovery.made_up import session, word


def test_a_recovery_has_the_code_of_its_category_and_an_agent_that_ignores_guidance_its_own() -> None:
    loop = session("a", "guide", [Episode("infinite_loop", 4, 12, "guidance")], [word("infinite_loop", 10, 12)])
    ignoring = session(
        "b", "guide", [Episode("tool_call_failure", 4, 31, "session")], [word("tool_call_failure", 9, 12)]
    )
    gave_up = replace(ignoring, heeds="ignores", ended="exit")
    went_on = replace(ignoring, heeds="ignores", ended="iterations")
    following = replace(ignoring, heeds="follows")
    result = planted_reasons([loop, gave_up, went_on, following])
    assert result["recovered"] == {"recover_from_infinite_loops": 1}
    assert result["not_recovered"] == {"premature_termination": 1, "ignored_instructions": 1, "": 1}


def test_the_table_has_every_printed_share_and_those_that_are_at_hand() -> None:
    alone = reasons_table()
    assert [row.evidence for row in alone.rows] == ["published"] * 9
    loop = session("a", "guide", [Episode("infinite_loop", 4, 12, "guidance")], [word("infinite_loop", 10, 12)])
    table = reasons_table(live=[loop], source="generated, seed 0, n 1")
    generated = [row for row in table.rows if row.evidence == "generated"]
    assert [row.value for row in generated] == [1.0, 0.0, 0.0, 0.0]
