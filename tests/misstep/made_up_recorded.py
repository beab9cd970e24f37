"""A small data set with recorded verdicts of two judges, made up in the shape of a public one."""

import json
from collections.abc import Sequence
from pathlib import Path

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
