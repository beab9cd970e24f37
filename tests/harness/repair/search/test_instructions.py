"""An instruction holds the lines, and its patcher writes them in any edit format."""

import asyncio

import pytest

from misstep.harness.agent.loop import AgentStopped
from misstep.harness.agent.protocols import PatchRequest
from misstep.harness.edits import EDIT_FORMATS, apply_edit
from misstep.harness.errors import EditRefused
from misstep.harness.repair.search.instructions import SearchPatcher, carried_out, instruction
from tests.harness.agent.folders import NoModel

BEFORE = "import os\n\n\ndef f(a):\n    x = a\n    return x\n"
CHANGES = [
    BEFORE.replace("x = a", "x = a + 1"),
    BEFORE.replace("    x = a\n", ""),
    BEFORE.replace("    return x", "    x += 1\n    return x"),
    BEFORE.replace("import os\n", "import sys\n").replace("return x", "return 1"),
    BEFORE + "    y = 1\n",
    BEFORE.replace("x = a", 'x = """\n```\n"""'),
]


@pytest.mark.parametrize("after", CHANGES)
def test_an_instruction_says_the_whole_change(after: str) -> None:
    text = instruction(BEFORE, after, "It is a likely mistake.")
    assert text.startswith("It is a likely mistake.\nReplace line ")
    assert carried_out(BEFORE, text) == after


@pytest.mark.parametrize("after", CHANGES)
@pytest.mark.parametrize("name", EDIT_FORMATS)
def test_the_patcher_writes_every_format(name: str, after: str) -> None:
    request = PatchRequest("app.py", BEFORE, instruction(BEFORE, after, "Mend it."))
    reply = asyncio.run(SearchPatcher(name).patch(request, NoModel()))
    files = {"app.py": BEFORE}
    assert apply_edit(name, reply, files.get, "app.py").files == {"app.py": after}


def test_a_file_without_a_last_line_end_keeps_to_it() -> None:
    before, after = "a = 1\nb = 2", "a = 1\nb = 3"
    assert carried_out(before, instruction(before, after, "Mend it.")) == after


@pytest.mark.parametrize("text", ["make it faster", instruction(BEFORE.replace("x", "y"), BEFORE, "Mend it.")])
def test_an_instruction_that_does_not_fit_the_file_is_refused(text: str) -> None:
    with pytest.raises(AgentStopped):
        asyncio.run(SearchPatcher("search_replace").patch(PatchRequest("app.py", BEFORE, text), NoModel()))


def test_a_change_that_the_format_cannot_say_is_refused_as_an_edit() -> None:
    before, after = "a = 1\r\nb = 2\n", "a = 1\r\nb = 3\n"
    request = PatchRequest("app.py", before, instruction(before, after, "Mend it."))
    with pytest.raises(EditRefused):
        asyncio.run(SearchPatcher("line_diff").patch(request, NoModel()))
