"""`--config FILE`: options of any command in TOML, nearer tables before the top, the command line before the file."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
import typer

from misstep.command_line import LINES
from misstep.options.config_file import CONFIG
from misstep_harness.journal.records import read_manifest
from tests.misstep.as_a_user import CommandLine
from tests.misstep.made_up import atif

Classify = Callable[..., tuple[int, str, str]]


@pytest.fixture
def classify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: CommandLine) -> Classify:
    """Run `classify` over one session with a configuration file of this text."""
    monkeypatch.chdir(tmp_path)
    Path("session.json").write_bytes(atif("fence"))

    def run(text: str, *options: str) -> tuple[int, str, str]:
        Path("c.toml").write_text(text, encoding="utf-8")
        return in_process("classify", "session.json", "--config", "c.toml", *options)

    return run


def all_commands() -> dict[str, typer.core.TyperCommand]:
    def within(command: object, name: str) -> list[tuple[str, object]]:
        inner = getattr(command, "commands", {})
        return [pair for each, one in inner.items() for pair in within(one, f"{name} {each}")] or [(name, command)]

    apps = ((name, typer.main.get_command(import_module(module).app)) for name, (module, _) in LINES.items())
    return dict(pair for name, command in apps for pair in within(command, name))


def test_every_command_takes_a_file() -> None:
    without = [name for name, command in all_commands().items() if CONFIG not in {one.name for one in command.params}]
    assert without == []


def test_the_nearest_table_counts_and_the_command_line_before_all(classify: Classify) -> None:
    text = 'categories = ["tool_call_failure"]\n[classify]\ncategories = ["infinite_loop"]\n'
    assert "infinite_loop" in classify(text)[1]
    assert "tool_call_failure" not in classify(text)[1]
    assert "infinite_loop" not in classify(text, "--categories", "unrequested_changes")[1]


def test_dashes_and_underscores_name_an_option_and_a_flag_is_true_or_false(classify: Classify) -> None:
    assert classify('"fail-on" = ["any>50%"]\njson = true\n')[1].startswith("{")
    code, out, err = classify('fail_on = ["any>50%"]\njson = false\n')
    assert (code, out[:1] == "{", "any" in err) == (0, False, True)


def test_the_top_may_have_options_of_other_commands_and_tables_of_other_commands(classify: Classify) -> None:
    assert classify('precision = 0.8\n[judge.run]\nout = "elsewhere"\nno_such = 1\n')[0] == 0


def test_a_group_has_options_of_its_commands(in_process: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('[judge]\nprecision = 2.5\nfarther = 1\n[judge.calibrate]\nout = "x"\n')
    assert (
        "no command of `misstep judge` has an option 'farther'"
        in in_process("judge", "calibrate", "run", "--config", file)[2]
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a = 1", "c.toml:1: no command of `misstep` has an option 'a'"),
        ("\nwrkers = 2", "c.toml:2: no command of `misstep` has an option 'wrkers'. Did you mean workers?"),
        ("[classify]\nfail_onn = 1", "c.toml:2: `misstep classify` has no option 'fail_onn'. Did you mean fail-on"),
        ("[clasify]", "c.toml:1: the table [clasify] is not named like a command of `misstep`. Did you mean class"),
        ("api_key = 'x'", "c.toml:1: no command of `misstep` has an option 'api_key'. Keys are read from"),
        ("workers = 1 2", "c.toml:1: not valid TOML"),
        ("[classify]\nsince = 7\nseed = 1", "c.toml:3: `misstep classify` has no option 'seed'"),
    ],
)  # fmt: skip
def test_a_name_that_nothing_has_is_an_error_with_line_and_nearest_name(
    classify: Classify, text: str, error: str
) -> None:
    code, out, err = classify(text)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"misstep: {error}")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("workers = 'x'", "Invalid value for '--workers'"),
        ("workers = 0", "Invalid value for '--workers'"),
        ("workers = [1, 2]", "Expected one value, not a list."),
        ("json = 'yes'", "Expected true or false."),
        ("model = true", "Expected text, a number or a date."),
        ("price_in = nan", "Invalid value for '--price-in'"),
        ("undecided = 'maybe'", "Invalid value for '--undecided'"),
    ],
)
def test_a_wrong_value_is_the_error_of_the_command_line_with_the_line_of_the_file(
    classify: Classify, text: str, error: str
) -> None:
    code, out, err = classify(f"# first\n{text}")
    assert (code, out) == (2, "")
    assert error in err
    assert "(c.toml:2)" in err


def test_a_value_with_the_form_of_a_key_is_refused_and_not_repeated(classify: Classify) -> None:
    key = "sk-" + "a1b2c3d4" * 4
    code, _, err = classify(f"[classify]\nmodel = '{key}'")
    assert (code, key in err) == (2, False)
    assert "c.toml:2: model: the value has the form of a key." in err


def test_what_has_no_effect_is_refused_in_the_table_of_the_command_alone(classify: Classify) -> None:
    assert classify("temperature = 1.0\nconcurrency = 3")[0] == 0
    code, _, err = classify("[classify]\nconcurrency = 3")
    assert code == 2
    assert "c.toml:2: --concurrency has no effect" in err


def test_a_run_records_the_options_and_not_the_file(in_process: CommandLine, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("session.json").write_bytes(atif("fence"))
    Path("c.toml").write_text(
        'undecided = "fail"\n[judge]\nout = "elsewhere"\n[judge.run]\nfail-under = ["accuracy=0.1"]\n'
    )
    line = ("judge", "run", "infinite_loop@rule", "session.json")
    in_process(*line, "--config=c.toml", "--out", "run")
    manifest = read_manifest(tmp_path / "run")
    assert manifest is not None
    assert manifest.arguments == [*line, "--undecided", "fail", "--fail-under", "accuracy=0.1", "--out", "run"]


def test_a_file_that_cannot_be_read_is_named(in_process: CommandLine) -> None:
    code, _, err = in_process("classify", "x", "--config", "no.toml")
    assert (code, err) == (
        2,
        "misstep: no.toml: cannot open: No such file or directory. Name a file that can be read.\n",
    )


def test_the_help_shows_the_form(in_process: CommandLine) -> None:
    assert "[judge.run]" in in_process("help", "config-file")[1]
