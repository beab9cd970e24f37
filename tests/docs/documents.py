"""What people read: the README and the pages in `docs`."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = {
    file.relative_to(ROOT).as_posix(): file.read_text("utf-8")
    for file in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
"""Path from the top of the checkout → text."""

EVERYTHING = "\n".join(DOCUMENTS.values())
