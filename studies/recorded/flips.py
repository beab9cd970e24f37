"""Write what attacked items did to a judge: `flips.json`, a page, and text for a terminal."""

import shlex
from importlib.util import find_spec
from pathlib import Path

from msgspec import structs

from misstep.analysis.gold import BenchmarkItem
from misstep.analysis.measures.judging.pairs.flips import flips, flips_document, flips_table
from misstep.analysis.pages import Foot, page, table_text
from misstep.harness.items import read_items, read_question
from misstep.harness.journal.records import read_manifest, read_verdicts, replace_file
from misstep.studies.judging.assessment import NO_JUDGE

FLIPS = "flips.json"
PAGE = "flips.html"


def write_flips(run: Path, benchmark: Path, seed: int, *, plumbing: bool = False) -> tuple[str, str]:
    """Count the flips of a run, and write them as a document and as a page into its folder."""
    result = flips(read_items(benchmark, BenchmarkItem), read_verdicts(run, unfinished=True))
    document = flips_document(result)
    replace_file(run / FLIPS, document.encode())
    source = f"{read_question(benchmark).name}, seed {seed}"
    table = flips_table(result, source)
    shown = structs.replace(table, finding=f"{table.finding} {NO_JUDGE}") if plumbing else table
    manifest = read_manifest(run)
    foot = Foot(
        shlex.join(["misstep", *(manifest.arguments if manifest else ())]),
        inputs=(f"{source}: {result.n:,} items",),
        seed=seed,
    )
    figures = []
    if find_spec("matplotlib") is not None and result.flip_rate.value is not None:
        from misstep.analysis.plots import forest

        title, note = "How often the verdict changes", "The dashed line is chance"
        figures.append(forest(table.drawn, title, note, reference=result.chance.value))
    written = page(shown.title, shown.finding, [shown], figures, foot=foot)
    replace_file(run / PAGE, written.encode())
    return document, f"{table_text(table)}\n{NO_JUDGE}\n" if plumbing else table_text(table)
