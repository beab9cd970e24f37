"""Labels as a person sees them in a table: item → rater → label."""

from pathlib import Path

from misstep_analysis.labels import Labels, Reading, read_questions
from misstep_analysis.stats.raters.patterns import MISSING


def given(labels: Labels) -> dict[str, dict[str, str]]:
    """The labels that were given."""
    return {
        item: {
            rater: labels.categories[code] for rater, code in zip(labels.raters, row, strict=True) if code != MISSING
        }
        for item, row in zip(labels.items, labels.codes.tolist(), strict=True)
    }


def read(path: Path, content: str | bytes, **options: object) -> Labels:
    """The labels of a file of one question."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (labels,) = read_questions(path, Reading(**options)).labels.values()  # type: ignore[arg-type]
    return labels


def read_several(path: Path, content: str | bytes, **options: object) -> tuple[dict[str, Labels], list[str]]:
    """The labels of each question of a file, and the remarks on the file."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = read_questions(path, Reading(**options))  # type: ignore[arg-type]
    return result.labels, result.remarks
