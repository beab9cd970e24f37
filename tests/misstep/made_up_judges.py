"""A small judge and a small benchmark of texts, made up."""

import json
from collections.abc import Sequence
from pathlib import Path

PROMPT = """---
name: is_it_fruit
version: 1
placeholders: labels, text
---
Labels:
{labels}

<!-- item -->

{text}
"""


def judge_file(folder: Path, prompt: str = PROMPT) -> Path:
    """A judge's file in a folder, with its prompt."""
    (folder / "prompt.md").write_text(prompt)
    file = folder / "judge.toml"
    file.write_text(
        'name = "is_it_fruit"\nkind = "text"\nlabels = ["fruit", "vegetable"]\nprompt = "prompt.md"\n'
        '[model]\nname = "small-1"\n'
    )
    return file


def benchmark(folder: Path, texts: Sequence[str]) -> Path:
    """A benchmark of texts, whose gold label is fruit if there is an apple in it."""
    folder.mkdir(parents=True)
    (folder / "benchmark.toml").write_text('name = "plants"\nkind = "text"\nlabels = ["fruit", "vegetable"]\n')
    items = [json.dumps({"id": f"i{n}", "kind": "text", "text": text}) for n, text in enumerate(texts)]
    (folder / "items.jsonl").write_text("".join(f"{item}\n" for item in items))
    gold = [f"i{n},ann,{'fruit' if 'apple' in text else 'vegetable'}" for n, text in enumerate(texts)]
    (folder / "gold.csv").write_text("item,rater,label\n" + "".join(f"{row}\n" for row in gold))
    return folder


def always_fruit(_: object) -> str:
    return '{"reasoning": "r", "label": "fruit"}'


TRACES = {"a1": ("Loops",), "b2": ("Loops", "Wrong Tool"), "c3": ()}
"""Trace → the categories of the errors that people found in it."""

KEEN, CURT = "keen-1_gaia", "curt-2_gaia"
"""Two judges: keen names every category everywhere, curt nothing in two traces, and writes prose about the third."""


def marked(categories: Sequence[str]) -> str:
    """A document that names one error of each category."""
    errors = [
        {"category": category, "location": f"span-{place}", "evidence": "e", "description": "d", "impact": "LOW"}
        for place, category in enumerate(categories)
    ]
    return json.dumps({"errors": errors, "scores": []})


def recorded_data(folder: Path) -> Path:
    """A folder of data sets that holds one, `trail`, with the annotations and the judges' answers."""
    files = {f"annotations_gaia/{trace}.json": marked(categories) for trace, categories in TRACES.items()}
    files["annotations_swe_bench/d4.json"] = marked(["Loops"])
    files |= {f"judge_outputs/{KEEN}/{trace}.json": marked(["Loops", "Wrong Tool"]) for trace in TRACES}
    files |= {f"judge_outputs/{CURT}/{trace}.json": marked([]) for trace in ("a1", "b2")}
    files[f"judge_outputs/{CURT}/c3.json"] = "I see no errors here."
    for name, text in files.items():
        path = folder / "trail" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
