"""Calls and results that Cline and Roo Code write as text: elements named for tools, answers under a heading.

    I look.
    <read_file>
    <path>a.py</path>
    </read_file>

is the text `I look.` and the call `read_file` with `path`; `[read_file for 'a.py'] Result:` and a text below it in the
next message of the user is its result. The last closing tag of a file's content counts, as the content may hold such
tags.
"""

import re
from bisect import bisect_right
from collections import defaultdict

from msgspec import Struct

TOOLS = frozenset(
    {"execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content", "edit_file"}
    | {"search_and_replace", "search_replace", "apply_patch", "search_files", "list_files", "codebase_search"}
    | {"list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource", "web_fetch", "web_search"}
    | {"ask_followup_question", "attempt_completion", "new_task", "plan_mode_respond", "act_mode_respond"}
    | {"switch_mode", "fetch_instructions", "update_todo_list", "load_mcp_documentation", "condense", "summarize_task"}
    | {"new_rule", "report_bug", "run_slash_command", "generate_image", "use_skill", "skill", "read_command_output"}
)
"""The tools of both programs, older and newer."""

_LONG = ("content", "diff")
_OPENING = re.compile(r"<([a-z][a-z_]{1,40})>")
_CLOSING = re.compile(r"</([a-z][a-z_]{1,40})>")
_HEADING = re.compile(r"\[([a-z][a-z_]{1,40})(?= for |\] Result:)(?s:.{0,4000}?)\] Result:")


class Written(Struct, frozen=True):
    """A call as it is written: tool, arguments, and whether the text breaks off in it."""

    name: str
    arguments: dict[str, str]
    unfinished: bool = False


def split_calls(text: str) -> tuple[str, list[Written]]:
    """Return the text without the calls in it, and the calls, in order."""
    texts: list[str] = []
    calls: list[Written] = []
    place = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < place or opening[1] not in TOOLS:
            continue
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        texts.append(text[place : opening.start()])
        inner = text[opening.end() : end if end >= 0 else len(text)]
        calls.append(Written(opening[1], _arguments(inner), end < 0))
        place = end + len(closing) if end >= 0 else len(text)
    texts.append(text[place:])
    return "".join(texts).strip(), calls


def _arguments(inner: str) -> dict[str, str]:
    ends: defaultdict[str, list[int]] = defaultdict(list)
    for closing in _CLOSING.finditer(inner):
        ends[closing[1]].append(closing.start())
    fields: dict[str, str] = {}
    place = 0
    for opening in _OPENING.finditer(inner):
        name, after = opening[1], ends.get(opening[1], [])
        following = bisect_right(after, opening.start())
        if opening.start() < place or following == len(after):
            continue
        end = after[-1] if name in _LONG else after[following]
        fields[name] = inner[opening.end() : end].strip("\n")
        place = end + len(name) + 3
    return fields


def heading_of(text: str) -> tuple[str, str] | None:
    """Return the tool whose result a text is, and the result; `None` for another text."""
    match = _HEADING.match(text)
    return None if match is None else (match[1], text[match.end() :].strip("\n"))
