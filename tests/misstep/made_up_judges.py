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
