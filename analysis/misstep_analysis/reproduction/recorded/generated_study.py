"""Make the generated study of the notebooks: sessions classified by rule, and others that measure the rules' errors.

Wink's static set has 42,807 sessions, and this one fewer, so that `reproduce` takes seconds.
"""

from collections.abc import Iterator

from misstep_analysis.observer.paper.generated_prevalence import StudiedSession, Study
from misstep_analysis.reproduction.recorded.classified import cached, digest, seed
from misstep_harness.benchmarks.folders import sources_of
from misstep_harness.classifiers import categories, classify_all
from misstep_harness.generate.sessions import generate_sessions
from misstep_harness.generate.voice import FOLDER

SESSIONS, VALIDATION = 3_000, 1_500
"""Numbers of sessions that are studied, and of those that measure the errors of the rules."""

VALIDATION_SEED = 1_000
"""What is added to the seed for the sessions that measure errors: no session is in both."""

_ROOMS = ("misstep_harness.generate", "misstep_harness.classifiers", "misstep_harness.trajectory")


def generated_study(n: int = SESSIONS, validation: int = VALIDATION) -> Study:
    """Return a generated study of the seed of the notebook, classified by rule."""
    own = seed()
    return Study(
        _sessions(n, own),
        _sessions(validation, own + VALIDATION_SEED),
        tuple(categories()),
        f"generated, seed {own}, n {n}",
    )


def _sessions(n: int, own_seed: int) -> tuple[StudiedSession, ...]:
    sources = [*(source for room in _ROOMS for source in sources_of(room)), *sorted(FOLDER.glob("*.toml"))]
    name = f"{own_seed}-{n}-{digest(sources)}"
    return cached("generated_study", name, tuple[StudiedSession, ...], lambda: tuple(_classified(n, own_seed)))


def _classified(n: int, own_seed: int) -> Iterator[StudiedSession]:
    for case in generate_sessions(n, own_seed, study=True):
        verdicts = classify_all(case.trajectory, categories())
        yield StudiedSession(
            case.trajectory.id,
            frozenset(name for name, planted in case.truth.items() if planted),
            {verdict.judge: verdict.label for verdict in verdicts},
        )
