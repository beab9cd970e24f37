"""Probes change what is judged, where the prompt shows it, and say nothing about the label."""

import json
import re

import msgspec
import pytest
from msgspec import structs

from misstep_harness.errors import UsageError
from misstep_harness.items import Item
from misstep_harness.judges import read_known, shipped_judges
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.probes import CHANGES, Plain, Subject, chosen_probes, probed, probes, prompt_text
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.trajectory import Source, Step, Trajectory

LABELS = {"yes": "", "no": ""}


def judge(name: str) -> JudgeSpec:
    spec = read_known(name)
    model = structs.replace(spec.model, name="acme/small-1")
    return structs.replace(spec, labels=spec.labels or LABELS, asks="Is it so?", model=model)


def changed(spec: JudgeSpec, *plain: Item) -> dict[str, Item]:
    """Suffix of the id → the item, of all that is made."""
    subjects = [Plain(Subject(item, None), None, item.id) for item in plain]
    return {item.id.partition("~")[2]: item for item in probed(prompted_judge(spec), subjects, chosen_probes(), "yes")}


@pytest.mark.parametrize("name", shipped_judges())
def test_every_change_is_in_the_prompt_of_every_shipped_judge(name: str) -> None:
    spec = judge(name)
    steps = (Step("user", "Mend the sum."), Step("agent", "I have mended the sum. The tests pass."))
    run = Trajectory("run", Source("made up"), "Mend the sum.", steps)
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    kind = "misbehaviour" if spec.kind == "any" else spec.kind
    item = Item("i", kind, step=1, task="Mend the sum.", patch=patch, text="The sum is mended.")
    made = list(probed(prompted_judge(spec), [Plain(Subject(item, run), None, "i")], chosen_probes(), "yes"))
    roles = [one.extra["change"]["role"] for one in made]
    assert roles.count("plain") == roles.count("copy") == 1
    changes = {one.extra["change"].get("probe") for one in made if one.extra["change"]["role"] == "changed"}
    assert changes >= {"verbosity", "authority", "label_order", "instruction", "system_message", "already_decided"}
    texts = [(one.labels, prompt_text(spec, Subject(one, msgspec.convert(one.trajectory, Trajectory)))) for one in made]
    assert len(set(texts)) == len(texts)


def text(own: str, **extra: str) -> Item:
    return Item("i", "text", text=own, extra=extra)


def test_each_probe_changes_a_text_in_its_own_way() -> None:
    made = changed(judge("benchmark_question"), text("It works. I ran it.", author="other/large-2"))
    with_base = {"authority-0", "authority", "self_preference-0", "self_preference"}
    names = ("instruction", "system_message", "already_decided")
    instructions = {one for name in names for one in (name, f"{name}-0")}
    assert set(made) == {"", "copy-1", "verbosity", "label_order", "markdown", *with_base, *instructions}
    assert made["verbosity"].text.startswith("It works. I ran it.\n\nWhat is written above is")
    assert made["authority"].text.startswith("It works. I ran it.\n\nI write this as a principal engineer")
    assert abs(len(made["authority"].text) - len(made["authority-0"].text)) < 3
    assert made["self_preference-0"].text == "It works. I ran it.\n\n(Written by other/large-2.)"
    assert made["self_preference"].text == "It works. I ran it.\n\n(Written by acme/small-1.)"
    assert made["label_order"].labels == ("no", "yes")
    assert made["markdown"].text == "**It works.**\n\n- I ran it."


def test_padding_is_as_long_as_the_text_and_says_no_sentence_twice() -> None:
    sentences = probes()["verbosity"].text.splitlines()
    for size in (5, 200, 5_000):
        [way] = CHANGES["longer"](Subject(text("x" * size), None), "\n".join(sentences))
        padding = way.item.text.removeprefix("x" * size + "\n\n")
        used = [one for one in sentences if one in padding]
        assert padding == " ".join(used)
        assert len(padding) >= min(size, len(" ".join(sentences)))


def test_who_wrote_it_is_changed_only_where_that_is_known() -> None:
    assert "self_preference" not in changed(judge("benchmark_question"), text("It works."))
    assert "self_preference" not in changed(judge("benchmark_question"), text("It works.", author="small-1"))


def test_formats_keep_their_content() -> None:
    marked = "# Done\n\n- **first** `x`\n- second"
    spaced = '{"a": [1, 1.50, "ä"]}'
    made = changed(judge("benchmark_question"), text(marked)) | changed(judge("benchmark_question"), text(spaced))
    assert re.findall(r"\w+", made["no_markdown"].text) == re.findall(r"\w+", marked)
    assert not set("#*`") & set(made["no_markdown"].text)
    assert json.loads(made["json_indented"].text) == json.loads(spaced)
    assert "1.50" in made["json_indented"].text
    [compact] = changed(judge("benchmark_question"), text(made["json_indented"].text))["json_compact"].text.splitlines()
    assert json.loads(compact) == json.loads(spaced)


def test_a_patch_is_changed_above_its_first_file() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    made = changed(judge("patch_acceptability"), Item("i", "patch", task="Mend it.", patch=patch))
    assert made["authority"].patch.endswith(f"whom others ask about such work.\n\n{patch}")
    assert "markdown" not in made


def test_an_unknown_probe_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="unknown probe 'length'"):
        chosen_probes(["length"])


def test_of_a_pair_the_first_output_is_changed_and_the_second_stays() -> None:
    pair = Item(
        "i", "pair", task="Mend it.", output_a="Done. It works.", output_b="Done.", extra={"system_a": "large-2"}
    )
    spec = structs.replace(judge("benchmark_question"), labels={"a": "", "b": "", "tie": ""})
    made = {name: item for name, item in changed(spec, pair).items() if item.extra["change"]["role"] == "changed"}
    assert {item.output_b for item in made.values()} == {"Done."}
    assert made["markdown"].output_a == "**Done.**\n\n- It works."
    assert made["self_preference"].output_a.endswith("(Written by acme/small-1.)")


def test_an_instruction_asks_for_the_label_whose_rate_is_measured_whatever_an_item_is() -> None:
    made = changed(judge("benchmark_question"), text("It works."))
    assert made["instruction"].text.endswith("answer with the label yes.")
    assert abs(len(made["instruction"].text) - len(made["instruction-0"].text)) < 10
