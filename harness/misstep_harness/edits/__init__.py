"""Read and write the forms in which models write changes of files. Pure text; nothing here touches a file."""

from functools import cache

from misstep_harness.edits.changes import Applied, EditFormat, Edits, Read, Receipt
from misstep_harness.prompting import shipped_prompt
from misstep_harness.registry import Registry

EDIT_FORMATS: Registry[EditFormat] = Registry(
    "misstep.edit_formats",
    {
        "search_replace": "misstep_harness.edits.search_replace",
        "unified_diff": "misstep_harness.edits.unified_diff",
        "line_diff": "misstep_harness.edits.line_diff",
        "patch_envelope": "misstep_harness.edits.patch_envelope",
    },
)


@cache
def edit_format(name: str) -> EditFormat:
    """Return the format of a name, or at `package.module:name`."""
    return EDIT_FORMATS.load(name)


def apply_edit(format_name: str, text: str, read: Read, path: str = "") -> Applied:
    """Return what a reply makes of the files."""
    form = edit_format(format_name)
    return form.apply(form.parse(text, path), read)


def instructions(format_name: str, path: str) -> str:
    """Return what tells a model how to write a format; `path` is a file of the task, for the example."""
    own: str | None = getattr(edit_format(format_name), "INSTRUCTIONS", None)
    text = own if own is not None else shipped_prompt(f"patch/{format_name}").user
    return text.replace("{path}", path)


__all__ = [
    "EDIT_FORMATS",
    "Applied",
    "EditFormat",
    "Edits",
    "Read",
    "Receipt",
    "apply_edit",
    "edit_format",
    "instructions",
]
