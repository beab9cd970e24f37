"""Give a package the README of the checkout, its links and pictures by the address of the repository.

A package index shows the README alone: a link beside it leads nowhere there. Hatchling calls this while it builds.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]{0,500})\]\((?!https?:|#)([^)\s]{1,200})\)")


def with_addresses(text: str, repository: str, version: str) -> str:
    """Return the text of a document at the top of the repository with whole addresses."""
    return LINK.sub(
        lambda link: f"{link[1]}[{link[2]}]({repository}/{'raw' if link[1] else 'blob'}/v{version}/{link[3]})", text
    )


class PackageReadme(MetadataHookInterface):
    """Hatchling's place for what a package says of itself."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README."""
        text = Path(self.root, "README.md").read_text("utf-8")
        shown = with_addresses(text, metadata["urls"]["Repository"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}
