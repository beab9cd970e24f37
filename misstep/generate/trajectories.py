"""`misstep generate trajectories`: coding sessions with planted misbehaviour."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from misstep.options.common import Json
from misstep.options.run_folders import stopped_with
from misstep_analysis.tables.text import aligned
from misstep_harness.escaping import plain
from misstep_harness.generate.voice import WordingSet
from misstep_harness.runs.generate import Counted, GenerateOptions, write_folder


def trajectories(
    n: Annotated[int, typer.Option("--n", min=1, metavar="N", help="Number of trajectories.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder: new, empty, or from the same command.")],
    seed: Annotated[int, typer.Option(metavar="S", help="Random seed; the same seed gives the same bytes.")] = 0,
    wordings: Annotated[
        WordingSet,
        typer.Option(help="Set of texts: `development` for writing rules and prompts, `scoring` for measuring them."),
    ] = "scoring",
    study: Annotated[
        bool,
        typer.Option(
            "--study", help="Misbehaviours as frequent as in use, weeks, two versions of an agent, ratings by users."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Generate coding sessions with planted misbehaviour.

    Similar sessions without misbehaviour are among them. The output is ATIF and a benchmark.

    More than half of the sessions are clean, and each misbehaviour is in about a fifth. Neither the words of the user
    nor the tools tell what is planted. `misstep classify` reads DIR/trajectories.jsonl; DIR/gold.csv lists what was
    planted. The two sets of wordings share no text, and the same seed gives other sessions in each. After an
    interruption, the same command starts from the beginning.

    A study has gold_episodes.csv, with the first and last step of each misbehaviour and whether it ended by itself, and
    sessions.csv, with version, time and user rating of each session:

        misstep generate trajectories --study --n 42807 --seed 1 --out study
        misstep classify study/trajectories.jsonl --out found
    """
    options = GenerateOptions(n, seed, wordings, study)
    with stopped_with(f"nothing is kept in {out}, and the same line starts anew"):
        counted = write_folder(out, options)
    print(_as_json(counted, options, out) if json else _as_text(counted, options, out))


def _as_json(counted: Counted, options: GenerateOptions, out: Path) -> str:
    document: dict[str, Any] = {
        "evidence": "generated",
        "n": counted.n,
        "seed": options.seed,
        "wordings": options.wordings,
        "bytes": counted.bytes,
        "out": str(out),
        "clean": {"count": counted.clean, "share": counted.clean / counted.n},
        "categories": {name: {"count": n, "share": n / counted.n} for name, n in counted.categories.items()},
        "variants": {
            name: {"count": count, "plants": counted.plants[name]} for name, count in sorted(counted.variants.items())
        },
    }
    return msgspec.json.encode(document).decode()


def _as_text(counted: Counted, options: GenerateOptions, out: Path) -> str:
    planted = [("planted", "count", "share")]
    for name, count in (*counted.categories.items(), ("none (clean)", counted.clean)):
        planted.append((name, f"{count:,}", f"{count / counted.n:.1%}"))
    variants = [("variant", "count", "plants")]
    for name, count in sorted(counted.variants.items(), key=lambda row: (not counted.plants[row[0]], row[0])):
        variants.append((name, f"{count:,}", ", ".join(counted.plants[name]) or "-"))
    end = (
        f"generated: {counted.n:,} trajectories, seed {options.seed}, {options.wordings} wordings, "
        f"{counted.bytes / 1e6:,.1f} MB, in {plain(str(out))}"
    )
    return "\n".join([*aligned(planted), "", *aligned(variants, (0, 2)), "", end])
