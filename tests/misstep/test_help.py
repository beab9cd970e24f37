"""The help of every command and option is a sentence that stands by itself."""

from collections.abc import Iterator
from importlib import import_module

import typer

from misstep.command_line import LINES


def _commands(command: object, name: str) -> Iterator[tuple[str, object]]:
    yield name, command
    for inner_name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{name} {inner_name}")


ALL = dict(
    pair
    for name, (module, _) in LINES.items()
    for pair in _commands(typer.main.get_command(import_module(module).app), name)
)
HELPS = {
    f"{name} {parameter.opts[0]}": parameter.help
    for name, command in ALL.items()
    for parameter in command.params
    if "--help" not in parameter.opts
}


def test_the_help_of_an_option_is_a_sentence_that_does_not_start_in_its_middle() -> None:
    middles = {"Of", "What", "Where", "Which", "How", "Who", "Whether"}
    odd = [name for name, text in HELPS.items() if text.split()[0] in middles or not is_sentence(text)]
    assert odd == []


def test_the_first_paragraph_of_a_commands_help_is_one_sentence() -> None:
    openings = {name: command.help.split("\n\n")[0].strip() for name, command in ALL.items()}
    assert [name for name, text in openings.items() if ". " in text or not is_sentence(text)] == []


def is_sentence(text: str) -> bool:
    return text[0].isupper() and text.endswith(".")


OVERVIEWS = {"misstep": {name: line for name, (_, line) in LINES.items()}} | {
    name: {inner_name: inner.help.split("\n\n")[0] for inner_name, inner in command.commands.items()}
    for name, command in ALL.items()
    if hasattr(command, "commands")
}


def test_no_line_of_an_overview_is_cut_in_a_terminal_of_80_columns() -> None:
    for lines in OVERVIEWS.values():
        room = 80 - 2 - 6 - max(map(len, lines))
        assert [line for line in lines.values() if len(line) > room] == []


def test_whatever_command_takes_a_cost_limit_takes_the_price_on_the_line() -> None:
    takers = [name for name in ALL if f"{name} --max-cost" in HELPS]
    assert {"judge run", "judge probe", "triage", "repair run", "reflect run", "observe"} <= set(takers)
    assert all(f"{name} --price-{end}" in HELPS for name in takers for end in ("in", "out"))
