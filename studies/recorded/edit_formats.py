"""Read recorded edits of models by the project's own readers; absent sets are left out."""

from misstep.analysis.measures.edit_formats import ReadEdit
from misstep.harness.datasets import aider_leaderboards, patch_corpora
from misstep.harness.edits import EDIT_FORMATS, edit_format
from misstep.harness.errors import EditRefused
from misstep.harness.records.recorded_edits import EditRun, RecordedEdit
from misstep.harness.runs.judging.benchmarks import set_folder
from misstep.studies.recorded.classified import at_hand


def leaderboard_runs() -> list[EditRun]:
    """Return the runs of Aider's leaderboards; none if they are not available."""
    name = aider_leaderboards.NAME
    return list(aider_leaderboards.edit_runs(set_folder(name))) if name in at_hand({name}) else []


def read_edits() -> list[ReadEdit]:
    """Return the recorded replies in a known format, each read; none if they are not available."""
    name = patch_corpora.NAME
    if name not in at_hand({name}):
        return []
    recorded = patch_corpora.recorded_edits(set_folder(name))
    return [read_edit(one) for one in recorded if one.format in EDIT_FORMATS]


def read_edit(recorded: RecordedEdit) -> ReadEdit:
    """Return a recorded reply as its reader sees it: how many blocks it has, or why it is refused."""
    try:
        edits = edit_format(recorded.format).parse(recorded.text)
    except EditRefused as refused:
        return ReadEdit(recorded, refused=refused.reason)
    return ReadEdit(recorded, sum(len(file.hunks) for file in edits.files))
