"""Write a table of pairs as a benchmark."""

from pathlib import Path

import tomli_w

from misstep_analysis.gold import write_gold
from misstep_analysis.labels.pair_table import PairTable
from misstep_harness.errors import UsageError, writing
from misstep_harness.items import Item
from misstep_harness.journal.records import encode_lines, replace_file
from misstep_harness.journal.run_folder import make_folder
from misstep_harness.trajectory import Evidence, noted

_QUESTION = "Which output fulfils the task better?"


def write_pairs(table: PairTable, folder: Path, evidence: Evidence = "real") -> None:
    """Write the benchmark; pairs of one task hang together in every interval."""
    if (folder / "items.jsonl").exists():
        raise UsageError(f"{folder} holds a benchmark", "Name another folder with --out.")
    make_folder(folder)
    items = [
        Item(
            pair.id,
            "pair",
            task=pair.task,
            output_a=pair.outputs[0],
            output_b=pair.outputs[1],
            extra={"cluster": pair.key}
            | {name: system for name, system in zip(("system_a", "system_b"), pair.systems, strict=True) if system},
        )
        for pair in table.pairs
    ]
    question = {"name": folder.resolve().name, "kind": "pair", "question": _QUESTION}
    with writing(folder):
        replace_file(folder / "benchmark.toml", tomli_w.dumps({**noted(evidence), **question}).encode())
        write_gold(folder, table.gold)
        replace_file(folder / "items.jsonl", encode_lines(items))
