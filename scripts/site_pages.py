"""Pages that `make docs` adds to those in `docs`: the README as the first, and the reference of commands and forms.

Beside each page is its Markdown, and `llms.txt` lists all of them for agents (https://llmstxt.org).
"""

import json
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any

import typer
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

from misstep.command_line import COMMANDS
from misstep.help_topics import GUIDES, TOPICS, topic_text
from scripts.schemas.known import DOCUMENTS, schema_of

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[([^\]]*)\]\(((?!https?:|#)[^)\s#]+)(#[^)]*)?\)")
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
"""File of the checkout → its page; a file in `docs` has the page of its name, any other the page of its path."""
_MARKDOWN: dict[str, str] = {}
"""Page → its Markdown, as it is shown."""


def on_files(files: Files, config: Any) -> Files:
    """Add the reference, and every file of the checkout that a document links to, to the site."""
    files.append(File.generated(config, "reference.md", content=reference()))
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    linked = set()
    for file in documents:
        text = re.sub(r"```.*?```", "", file.read_text("utf-8"), flags=re.DOTALL)
        linked |= {_target(file.relative_to(ROOT).as_posix(), link[2]) for link in LINK.finditer(text)}
    for target in sorted(linked | {"README.md", "CONTRIBUTING.md"}):
        if not target.startswith("docs/") and (ROOT / target).is_file():
            files.append(File.generated(config, PAGES.get(target, target), abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point the links of a page at pages of the site; a folder of the checkout is named and not linked."""
    uri = page.file.src_uri
    in_docs = (ROOT / "docs" / uri).is_file()
    source = next((file for file, name in PAGES.items() if name == uri), f"docs/{uri}" if in_docs else uri)

    def pointed(link: re.Match[str]) -> str:
        target = _target(source, link[2])
        if (ROOT / target).is_dir():
            return link[1]
        own = PAGES.get(target, target.removeprefix("docs/"))
        return f"[{link[1]}]({relpath(own, dirname(uri) or '.')}{link[3] or ''})"

    shown = LINK.sub(pointed, markdown) if uri != "reference.md" else markdown
    _MARKDOWN[uri] = shown
    return shown


def on_post_build(config: Any) -> None:
    """Write the Markdown of each page beside it, the list of all, and the JSON Schema of each command's `--json`."""
    site = Path(config["site_dir"])
    for name, text in _MARKDOWN.items():
        (site / name).write_text(text, "utf-8")
    (site / "schemas").mkdir(exist_ok=True)
    for command in DOCUMENTS:
        text = json.dumps(schema_of(command), indent=2)
        (site / "schemas" / f"{command.replace(' ', '-')}.json").write_text(f"{text}\n", "utf-8")
    (site / "llms.txt").write_text(llms_text(config["nav"], _MARKDOWN), "utf-8")


def llms_text(nav: list[Any], markdown: Mapping[str, str]) -> str:
    """Return the list of pages for agents: their titles and first sentences, by the sections of the navigation."""
    sections = {title: [pages] if isinstance(pages, str) else pages for part in nav for title, pages in part.items()}
    listed = {page for pages in sections.values() for page in pages}
    sections["Optional"] = sorted(markdown.keys() - listed)
    head = markdown["index.md"].split("\n\n")[1]
    lines = ["# Misstep", "", f"> {' '.join(head.split())}"]
    for title, pages in sections.items():
        lines += ["", f"## {title}", "", *(_listed(page, markdown[page]) for page in pages)]
    return "\n".join(lines) + "\n"


def _listed(page: str, text: str) -> str:
    title, _, body = text.removeprefix("# ").partition("\n")
    prose = re.sub(r"```.*?```", "", body, flags=re.DOTALL)
    first = next((one for one in prose.split("\n\n") if one.strip()[:1].isalpha()), "")
    sentence = re.sub(LINK, r"\1", " ".join(first.split())).partition(". ")[0].rstrip(".:")
    return f"- [{title}]({page})" + (f": {sentence}" if sentence else "")


def _target(source: str, link: str) -> str:
    return normpath(f"{dirname(source)}/{link}".lstrip("/"))


def reference() -> str:
    """Return the page of all commands with their options, and of all forms of files."""
    parts = ["# Reference", "All commands and their options, then the form of each file that people write or read."]
    for group, commands in COMMANDS.items():
        parts += [f"## {group}"]
        for name, (module, _) in commands.items():
            command = typer.main.get_command(import_module(module).app)
            text = get_docs_for_click(obj=command, ctx=typer.Context(command), name=name, call_prefix="misstep")
            parts += [re.sub(r"^#", "###", text, flags=re.MULTILINE)]
    parts += ["## Files"]
    for topic in TOPICS | GUIDES:
        parts += [f"### {topic}", f"```text\n{topic_text(topic)}\n```"]
    return "\n\n".join(parts)
