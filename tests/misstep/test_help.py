"""The help of every command and option is a sentence that stands by itself."""

from collections.abc import Iterator
from importlib import import_module

import pytest
import typer

from misstep.command_groups import LINES


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


def test_there_are_commands_and_options_to_look_at() -> None:
    assert {"classify", "judge run", "judge cache export", "datasets load"} <= set(ALL)
    assert len(HELPS) > 60


@pytest.mark.parametrize("name", HELPS)
def test_the_help_of_an_option_is_a_sentence_that_does_not_start_in_its_middle(name: str) -> None:
    first = HELPS[name].split()[0]
    assert first not in {"Of", "What", "Where", "Which", "How", "Who", "Whether"}
    assert first[0].isupper()
    assert HELPS[name].endswith(".")


@pytest.mark.parametrize("name", ALL)
def test_the_first_paragraph_of_a_commands_help_is_one_sentence(name: str) -> None:
    first = ALL[name].help.split("\n\n")[0].strip()
    assert first.endswith(".")
    assert first[0].isupper()
    assert ". " not in first


OVERVIEWS = {"misstep": {name: line for name, (_, line) in LINES.items()}} | {
    name: {inner_name: inner.help.split("\n\n")[0] for inner_name, inner in command.commands.items()}
    for name, command in ALL.items()
    if hasattr(command, "commands")
}


@pytest.mark.parametrize("name", OVERVIEWS)
def test_no_line_of_an_overview_is_cut_in_a_terminal_of_80_columns(name: str) -> None:
    room = 80 - 2 - 6 - max(map(len, OVERVIEWS[name]))
    assert [line for line in OVERVIEWS[name].values() if len(line) > room] == []


def test_whatever_command_takes_a_cost_limit_takes_the_price_on_the_line() -> None:
    takers = [name for name in ALL if f"{name} --max-cost" in HELPS]
    assert {"judge run", "judge inject", "triage", "repair run", "reflect run", "observe"} <= set(takers)
    assert all(f"{name} --price-{end}" in HELPS for name in takers for end in ("in", "out"))
