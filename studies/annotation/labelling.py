"""Have a person label a drawn sample of a judge's items, blind to the judge's labels: on a page, or in a tool."""

import asyncio
import random
import secrets
from collections.abc import Callable
from pathlib import Path

from aiohttp import web
from msgspec import Struct, structs

from misstep.analysis.gold import GoldLabel, read_gold, write_gold
from misstep.analysis.pages.foot import Foot
from misstep.analysis.pages.labelling import Label, LabelQuestion, done_page, labelling_page
from misstep.analysis.tables.files import csv_of
from misstep.harness.errors import UsageError
from misstep.harness.escaping import one_line
from misstep.harness.items import Item, Runs, read_items
from misstep.harness.judges import read_known, shipped_judges
from misstep.harness.judges.context import fitted_steps
from misstep.harness.readers.misstep import inline_run
from misstep.harness.records.session import TITLE_CHARACTERS, title_of
from misstep.harness.runs.judging.trajectories_by_id import runs_by_id
from misstep.harness.trajectory import Source, Step, Trajectory
from misstep.studies.annotation import loopback
from misstep.studies.judged_runs import JudgedRun, open_run

_HELD = 10_000
"""The most items whose texts are held for one session of labelling."""

_ROOM = 30_000
"""The characters of a session in a task; a cell of a workbook holds 32,767."""


class Drawn(Struct, frozen=True):
    """Sample that a person labels, in the order in which it is shown."""

    run: JudgedRun
    items: tuple[Item, ...]
    rater: str


class Labelling:
    """The labels that a person gives, written to the benchmark's `gold.csv` after each one."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self._runs = Runs(drawn.run.benchmark, runs_by_id, inline_run)
        rows = list(read_gold(drawn.run.benchmark))
        self._others = [row for row in rows if row.rater != drawn.rater]
        self._own = {row.item: row.label for row in rows if row.rater == drawn.rater}
        self._places = {item.id: place for place, item in enumerate(drawn.items)}
        self._place = self._next(0)

    @property
    def labelled(self) -> int:
        """Count the items of the sample with a label of this person."""
        return sum(item.id in self._own for item in self.drawn.items)

    @property
    def done(self) -> bool:
        """Return whether all items have one."""
        return self.labelled == len(self.drawn.items)

    def label(self, item: str, label: str) -> None:
        """Keep the label of an item, and go to the next one that has none."""
        if item not in self._places or label not in self._labels(self.drawn.items[self._places[item]]):
            raise UsageError(f"{item!r} cannot be labelled {label!r}", "Use the buttons of the page.")
        self._own[item] = label
        labels = [GoldLabel(name, self.drawn.rater, answer) for name, answer in self._own.items()]
        write_gold(self.drawn.run.benchmark, [*self._others, *labels], 0o600)
        self._place = self._next(self._places[item] + 1)

    def move(self, item: str, by: int) -> None:
        """Go to the item before or after one."""
        self._place = (self._places.get(item, self._place) + by) % len(self.drawn.items)

    def page(self) -> str:
        """Return the page of the item to be labelled now, or that of the end."""
        run = self.drawn.run
        foot = Foot(
            f"misstep label {run.folder}", inputs=(f"labels of {self.drawn.rater} in {run.benchmark}/gold.csv",)
        )
        if self.done:
            return done_page(self.labelled, foot)
        item = self.drawn.items[self._place]
        labels = tuple(
            Label(name, str(number) if number < 10 else "", meaning, self._own.get(item.id) == name)
            for number, (name, meaning) in enumerate(self._labels(item).items(), start=1)
        )
        question = run.question.asks or f"{self._category.replace('_', ' ').capitalize()}: which label is right?"
        run_of_item = self._runs.of(item) or Trajectory(item.id, Source("item"), task=item.task)
        texts = (Step("agent", text) for text in item.texts)
        session = structs.replace(run_of_item, steps=(*texts, *run_of_item.steps))
        title = title_of(session) or next((one_line(step.text)[:TITLE_CHARACTERS] for step in session.steps), "")
        label_question = LabelQuestion(
            item.id, title or item.id, self._place + 1, len(self.drawn.items), question, labels, session
        )
        return labelling_page(label_question, labelled=self.labelled, foot=foot)

    def _labels(self, item: Item) -> dict[str, str]:
        meanings = self.drawn.run.question.labels
        if not any(meanings.values()) and self._category in shipped_judges():
            meanings = {name: read_known(self._category).labels.get(name, "") for name in meanings}
        return {label: meanings.get(label, "") for label in item.labels} if item.labels else dict(meanings)

    @property
    def _category(self) -> str:
        """Return the judge without how it judges: the rule of a category asks what the shipped prompt of it does."""
        return self.drawn.run.judge.partition("@")[0]

    def _next(self, start: int) -> int:
        """Return the first item from a place on without a label, around the end; the place itself if all have one."""
        n = len(self.drawn.items)
        order = [(start + step) % n for step in range(n)]
        return next((place for place in order if self.drawn.items[place].id not in self._own), start % n)


def draw(run: Path, n: int, rater: str, *, seed: int = 0, benchmark: str = "") -> Drawn:
    """Return the items of a run that a person is to label: a simple random sample, the same for the same seed."""
    opened = open_run(run, benchmark)
    judged = sorted(verdict.item for verdict in opened.verdicts)
    if not judged:
        raise UsageError(f"the run {run} has no verdict yet", "Run the judge first.")
    chosen = random.Random(seed).sample(judged, min(n, len(judged), _HELD))  # noqa: S311 (no secret)
    wanted = set(chosen)
    by_id = {item.id: item for item in read_items(opened.benchmark) if item.id in wanted}
    items = [by_id[item] for item in chosen if item in by_id]
    if not all(item.labels or opened.question.labels for item in items):
        raise UsageError(f"the benchmark {opened.benchmark} names no labels", "Name them in its benchmark.toml.")
    return Drawn(opened, tuple(items), rater)


async def serve(labelling: Labelling, port: int, ready: Callable[[str], None]) -> None:
    """Serve the page until every item is labelled."""
    path = f"/{secrets.token_urlsafe(16)}/"
    done = asyncio.Event()
    routes = web.RouteTableDef()

    @routes.get(path)
    async def show(_: web.Request) -> web.Response:
        text = labelling.page()
        if labelling.done:
            done.set()
        return loopback.page(text)

    @routes.post(f"{path}label")
    async def label(request: web.Request) -> web.Response:
        posted = await request.post()
        item, chosen, move = (str(posted.get(name, "")) for name in ("item", "label", "move"))
        if chosen:
            labelling.label(item, chosen)
        else:
            labelling.move(item, {"back": -1, "skip": 1}.get(move, 0))
        raise web.HTTPSeeOther(path)

    app = loopback.application(routes)
    await loopback.serve(app, port, lambda bound: ready(f"http://{loopback.HOST}:{bound}{path}"), done)


def tasks_csv(drawn: Drawn) -> str:
    """Return the items of a sample as CSV, a task a row, in the order of the draw, without the judge's labels."""
    runs = Runs(drawn.run.benchmark, runs_by_id, inline_run)
    return csv_of(("item", "text"), ((item.id, _task(item, runs)) for item in drawn.items))


def _task(item: Item, runs: Runs) -> str:
    run = runs.of(item)
    steps = () if run is None else run.steps
    session = fitted_steps(steps, _ROOM, "shorten_middle", item.step, first=0).text if steps else ""
    return "\n\n".join(part for part in (item.task, *item.texts, session) if part)
