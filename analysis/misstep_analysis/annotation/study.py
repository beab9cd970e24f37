"""Keep the folder of an annotation study: every answer is on disk before anybody is told that it is kept.

    run.toml            raters, seed, calibration set, and the cases' digests: the same line goes on with the study
    answers.jsonl       a `RaterAnswer` a line, only ever appended to
    server.json         the port and the secret of the addresses, so that an open page outlives the server

A half-written last line, which a kill may leave, is cut off when the study is opened again.
"""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

import msgspec
from msgspec import Struct, structs

from misstep_analysis.annotation.page import Material
from misstep_analysis.annotation.plan import AnnotationPlan, State
from misstep_harness.annotation import PHASES, Phase, RaterAnswer
from misstep_harness.errors import InputError, MisstepError
from misstep_harness.journal.records import (
    MANIFEST,
    Inputs,
    Manifest,
    Records,
    new_manifest,
    now,
    read_manifest,
    read_records,
    replace_file,
)
from misstep_harness.journal.run_folder import RunInProgress

COMMAND = "annotate"
ANSWER_RECORDS = Records(RaterAnswer, "answers.jsonl", "answer", private=True)
SERVER = "server.json"


class Conflict(MisstepError):
    """An answer does not fit what the study holds by now, such as one from a page that was opened long ago."""


class Cases(Protocol):
    """The cases of a study: their folder, names and labels, a digest of their content, and what a rater sees."""

    @property
    def folder(self) -> Path:
        """Return the folder that the cases are from."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the name of each case, in order."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels that a case may get."""

    def inputs(self) -> Inputs:
        """Return the files of all cases, by content."""

    def material(self, case: str) -> Material:
        """Return what a rater sees of a case."""


class _Entry(Struct, frozen=True):
    """Note of an answer in the journal."""

    item: str
    rater: str


class _Asked(Struct, frozen=True):
    """Settings of a study in its manifest; of the cases, as a table, each that differs is named, not the whole list."""

    raters: list[str]
    seed: int
    calibration: list[str]
    labels: list[str]
    cases: dict[str, str]


class Server(Struct, frozen=True):
    """Server of a study's pages: the port, and the secret that its addresses are made of."""

    port: int
    secret: str


def manifest_of(plan: AnnotationPlan, cases: Cases, arguments: Sequence[str] = ()) -> Manifest:
    """Return the manifest of a study; two lines that give the same one go on with the same study."""
    cases_asked = dict.fromkeys(plan.items, "to label")
    settings = _Asked(list(plan.raters), plan.seed, list(plan.calibration), list(plan.labels), cases_asked)
    return new_manifest(COMMAND, structs.asdict(settings), cases.inputs(), arguments, str(cases.folder.resolve()))


class AnnotationStudy:
    """A study that takes answers; use it with `with`."""

    def __init__(self, folder: Path, plan: AnnotationPlan, cases: Cases, arguments: Sequence[str] = ()) -> None:
        self.folder, self.cases = folder, cases
        self._run = RunInProgress(folder, manifest_of(plan, cases, arguments), ANSWER_RECORDS, _Entry, _entry)
        try:
            answers = tuple(read_records(folder, ANSWER_RECORDS, unfinished=True))
            self.state = State(plan, answers)
        except BaseException:
            self._run.close()
            raise

    def answer(self, rated: RaterAnswer) -> None:
        """Keep an answer; it is on disk when this returns. One that repeats the last one is kept already."""
        state = self.state
        last, revision = state.last(rated.rater, rated.item, rated.phase), 0
        if last is not None:
            if last.content == rated.content and rated.revision <= last.revision + 1:
                return
            revision = last.revision + 1
        if rated.phase != state.phase or rated.item not in state.order(rated.rater):
            raise Conflict(
                f"this page is of the phase {rated.phase}, and the case is not open in it any longer",
                "Nothing was changed. Open the study's page again.",
            )
        if rated.revision != revision:
            raise Conflict(
                f"the case was answered elsewhere meanwhile: {(last and last.label) or 'cannot tell'}",
                "Nothing was changed. Load the page again to see that answer, and change it there.",
            )
        dated = structs.replace(rated, at=now())
        self._run.append([dated], _entry(dated, None))
        with (self.folder / ANSWER_RECORDS.file).open("rb") as stream:
            os.fsync(stream.fileno())
        self.state = State(state.plan, (*state.answers, dated))

    def server(self, port: int) -> Server:
        """Return where the study was served last, or on a port that is asked for; noted by `serves`."""
        file = self.folder / SERVER
        try:
            known = msgspec.json.decode(file.read_bytes(), type=Server)
        except FileNotFoundError:
            known = Server(0, secrets.token_urlsafe(24))
        except msgspec.DecodeError as error:
            raise InputError(f"not what `{COMMAND}` wrote: {error}", "Delete the file.", file=file) from error
        return structs.replace(known, port=port or known.port)

    def serves(self, server: Server) -> None:
        """Note where the study is served."""
        replace_file(self.folder / SERVER, msgspec.json.encode(server), 0o600)

    def __enter__(self) -> "AnnotationStudy":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run.close()


def is_study(folder: Path) -> bool:
    """Return whether a folder is that of an annotation study."""
    manifest = read_manifest(folder)
    return manifest is not None and manifest.command == COMMAND


def read_study(folder: Path) -> tuple[State, Manifest]:
    """Return a study as it is in its folder, for reading; it may be served meanwhile."""
    manifest = read_manifest(folder)
    if manifest is None or manifest.command != COMMAND:
        advice = f"Name that of `misstep {COMMAND}`."
        raise InputError("this is not a folder of an annotation study", advice, file=folder)
    try:
        settings = msgspec.convert(manifest.settings, _Asked)
    except msgspec.ValidationError as error:
        problem = f"not what `misstep {COMMAND}` wrote: {error}"
        raise InputError(problem, "Restore the file.", file=folder / MANIFEST) from error
    cases, raters, calibration = tuple(settings.cases), tuple(settings.raters), tuple(settings.calibration)
    plan = AnnotationPlan(cases, raters, calibration, settings.seed, tuple(settings.labels))
    begun = (folder / ANSWER_RECORDS.file).exists()
    return State(plan, tuple(read_records(folder, ANSWER_RECORDS, unfinished=True)) if begun else ()), manifest


def phase_named(name: str) -> Phase:
    """Return the phase of a name."""
    for phase in PHASES:
        if phase == name:
            return phase
    raise Conflict(f"unknown phase {name!r}", "Open the study's page again.")


def _entry(answer: RaterAnswer, _: _Entry | None) -> _Entry:
    return _Entry(answer.item, answer.rater)
