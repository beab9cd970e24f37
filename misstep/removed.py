"""Commands and options of earlier versions, and what to use instead: `COMMAND` or `COMMAND --option` → the advice."""

from collections.abc import Sequence

from misstep_harness.errors import UsageError

REMOVED = {
    "annotate export": "Name the study: `misstep annotate STUDY --out DIR`.",
    "annotate serve": "Leave out `serve`: `misstep annotate CASES --study STUDY --raters A,B`.",
    "benchmark pairs": "Use `misstep benchmark make TABLE --kind pair --out DIR`.",
    "classify --shard": "Spread the work: `misstep classify … --workers N`, or --dask ADDRESS.",
    "classify --shards": "Dask's workers take pieces as they get free: leave it out.",
    "count": "Copy the files to one place and measure all of them: `misstep agreement`, `pass` or `report`.",
    "datasets load": "Name the set: `misstep judge run JUDGE --benchmark NAME` builds its benchmark and judges it.",
    "experiment benchmark": "Use `misstep benchmark make RUN --kind recovery --out DIR`.",
    "generate trajectories --bytes-each": "Leave it out: a session has the length that its work takes.",
    "experiment codes list": "`misstep experiment codes RUN --coders A,B --out DIR` writes them to codes.csv.",
    "experiment codes sample": "Use `misstep experiment codes RUN --coders A,B --out DIR`.",
    "experiment codes settle": "Add a line to decisions.csv beside the sheets.",
    "experiment codes show": "Use `misstep experiment codes DIR`.",
    "generate trajectories --workers": "Leave it out: one process generates about 200 sessions a second.",
    "group": "Read the reasons in `misstep report RUN`.",
    "judge anchors": "Use `misstep judge drift RUN --draw N --out FILE`.",
    "judge calibrate --probabilities": "Use `misstep judge calibrate RUN --method isotonic --json`, which has them.",
    "judge calibrate --confidence": "The lower bound holds with 95% confidence: leave it out.",
    "judge calibrate --held-out": "Half of the items is held out: leave it out.",
    "judge cache": "Copy the folder that MISSTEP_CACHE names.",
    "judge certify": "Gate the judge on labelled items: `misstep judge run … --fail-under accuracy.lower=0.8`.",
    "judge inject": "Use `misstep judge probe JUDGE --benchmark B --probe instruction`.",
    "judge policies": "Score the judge once with each rater: `misstep judge check TABLE --human RATER`.",
    "judge rank": "`misstep judge run` on pairs of outputs ranks the systems.",
    "judge run --dask": "A judge is bound by its server: --concurrency N asks it more at once.",
    "judge run --shard": "A judge is bound by its server: --concurrency N asks it more at once.",
    "judge run --require": "Gate the judge on labelled items with --fail-under.",
    "classify --require": "Gate the judge on labelled items: `misstep judge run … --fail-under accuracy.lower=0.8`.",
    "label": "Use `misstep annotate RUN --sample N --study STUDY`, then `misstep judge check RUN --labels STUDY`.",
    "judge stability": "Use `misstep judge compare RUN RUN --repeats`.",
    "merge": "A run with --workers N or --dask ADDRESS is written whole.",
    "notebook": "Use `misstep export RUN --to notebook --out F.ipynb`, and open it with `jupyter lab F.ipynb`.",
    "pack": "Commands read sessions where they are, also at an address; `misstep convert` writes them as ATIF.",
    "plugins": "Use `misstep doctor`, which lists plug-ins.",
    "reflect ablation": "Use `misstep reflect run [SKILL] --ablate SEEDS`.",
    "reflect run hardening": "Use `misstep reflect run command --target examples/hardening/target.toml`.",
    "repair build --find": "Build from the shipped recipes, or with --history from a repository's past fixes.",
    "repair tasks attach": "Commit the fix: the next `misstep repair run` closes the task whose tests pass again.",
    "repair tasks close": "Use `misstep repair tasks REPO TASK --close landed`.",
    "repair tasks list": "Use `misstep repair tasks REPO`.",
    "repair tasks show": "Use `misstep repair tasks REPO TASK`.",
    "repair build --recipes": "Build from the shipped recipes, or with --history from a repository's past fixes.",
    "repair run --replay-run": "Record the replies of a model with --record, and answer from them with --replay.",
    "repair run --shard": "Spread the work: `misstep repair run … --workers N`, or --dask ADDRESS.",
    "repair patches": "Use `misstep repair report RUN --patches DIR`.",
    "repair report --about": "Leave it out: a run says which cases it is of, and what evidence they are.",
    "repair review codes": "Measure how far the coders of comments agree with `misstep agreement LABELS.csv`.",
    "repair review land": "The next `misstep repair run` closes the task whose tests pass again.",
    "repair review list": "Use `misstep repair report RUN`, which counts what became of the patches.",
    "repair review rollout": "Use `misstep repair report RUN`, which counts what became of the patches.",
    "repair run --outcomes": "Leave it out: a test that failed is run again until it is known whether it is flaky.",
    "schema": "Run `make docs`, which writes the JSON Schemas to site/schemas.",
    "sessions": "Query the Parquet files with pyarrow or pandas.",
    "skill": "Copy the folder examples/agent_skill.",
    "triage --shard": "Spread the work: `misstep triage … --workers N`, or --dask ADDRESS.",
    "view --compare": "Write a page for each run with `misstep view FILE --id ID`.",
    "watch --no-rules": "Rules read no CLAUDE.md: leave it out.",
    "watch --rules": "Give the file to a judge: `misstep classify … --model M --rules FILE`.",
}


def refuse_removed(words: Sequence[str]) -> None:
    """Refuse a command or option that an earlier version had, and name the alternative."""
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    for name, advice in REMOVED.items():
        *command, last = name.split()
        if last.startswith("--"):
            if [*words[: len(command)]] == command and last in options:
                raise UsageError(f"`misstep {name}` was removed", advice)
        elif [*words[: len(command) + 1]] == [*command, last]:
            raise UsageError(f"`misstep {name}` was removed", advice)
