"""What strangers' files ask for is not shown: no secret is in an output, no listener hears, nothing of theirs runs."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from misstep.command_line import app
from misstep_harness.errors import InputError, MisstepError, SandboxMissing
from misstep_harness.workspace import find_sandbox, project_toolchain
from tests.families.hostile import CANARY, TREES, Outside, outside, texts_beneath
from tests.harness.repair.failure_bot.histories import MadeRepository

COMMAND = "python3 -m unittest -q"


@pytest.fixture(autouse=True)
def _nothing_is_active(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def secret() -> Iterator[Outside]:
    with tempfile.TemporaryDirectory(prefix="outside-") as folder:
        Path(folder).chmod(0o755)  # it is within reach of everyone: no permission keeps anybody out
        with outside(Path(folder)) as made:
            yield made


@pytest.fixture(params=["bubblewrap", "sandlock"])
def engine(request: pytest.FixtureRequest) -> str:
    try:
        return find_sandbox(request.param).name
    except SandboxMissing as error:
        pytest.skip(str(error))


def ran(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if isinstance(result.exception, MisstepError):
        return result.exception.exit_code, f"{result.output}{result.exception.line()}"
    return result.exit_code, f"{result.output}{result.exception or ''}"


def kept_out(secret: Outside, output: str, folder: Path | None = None) -> bool:
    texts = [output, *(texts_beneath(folder) if folder is not None else ())]
    return not secret.ran and not secret.heard and not any(CANARY in text for text in texts)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("named", [False, True], ids=["found", "named by --python"])
def test_no_file_of_a_checkout_has_anything_outside_shown(
    tree: str, named: bool, secret: Outside, tmp_path: Path
) -> None:
    checkout = tmp_path / "shop"
    checkout.mkdir()
    TREES[tree](checkout, secret.folder)
    environment = next((checkout / name for name in (".venv", "venv", "env") if (checkout / name).exists()), None)
    with suppress(InputError):  # it may as well be refused
        toolchain = project_toolchain(checkout, COMMAND, environment if named else None)
        shown = [Path(place).resolve() for place in toolchain.shown]
        assert not any(place.is_relative_to(secret.folder) or tmp_path.is_relative_to(place) for place in shown)
        assert not any(Path.home().is_relative_to(place) or place == checkout for place in shown)
    assert kept_out(secret, "")


@pytest.mark.parametrize(
    "tree", ["a home through the kernel's folders", "packages elsewhere", "packages of node elsewhere"]
)
def test_a_project_that_is_tried_reads_and_calls_nothing_outside(
    tree: str, engine: str, secret: Outside, tmp_path: Path
) -> None:
    repository = MadeRepository(tmp_path / "shop")
    repository.commit({"test_probe.py": secret.probe()})
    TREES[tree](repository.folder, secret.folder)
    _, output = ran("doctor", repository.folder, "--test-command", COMMAND, "--sandbox", engine)
    assert kept_out(secret, output)
    assert "1 passed" in output or engine == "sandlock"


def test_a_folder_that_the_user_shows_is_read_and_its_socket_hears_nothing(
    engine: str, secret: Outside, tmp_path: Path
) -> None:
    repository = MadeRepository(tmp_path / "shop")
    probe = secret.probe().replace('print("the probe ran")', 'assert open(OUTSIDE + "/lib/secret").read()')
    repository.commit({"test_probe.py": probe})
    folder = repository.folder, "--test-command", COMMAND, "--sandbox", engine
    assert "1 failed" in ran("doctor", *folder)[1]
    code, output = ran("doctor", *folder, "--show", secret.folder)
    assert (code, "1 passed" in output, str(secret.folder) in output) == (0, True, True)
    assert secret.heard == []


@pytest.mark.parametrize("folder", ["/", "~", "/proc", "/run", "..", "."])
def test_the_whole_machine_a_home_and_what_holds_the_checkout_are_not_shown_even_if_asked_for(
    folder: str, tmp_path: Path
) -> None:
    checkout = tmp_path / "shop"
    checkout.mkdir()
    place = Path(folder).expanduser() if folder in ("/", "~", "/proc", "/run") else checkout / folder
    with pytest.raises(MisstepError, match="--show"):
        project_toolchain(checkout, COMMAND, show=[place])


def test_a_case_sets_nothing_of_the_host(engine: str, secret: Outside, tmp_path: Path) -> None:
    case = tmp_path / "cases/price"
    (case / "before").mkdir(parents=True)
    (case / "before/test_probe.py").write_text(secret.probe().replace('print("the probe ran")', "self.fail()"))
    (secret.folder / "node_modules").mkdir()
    (secret.folder / "node_modules/secret").write_text(CANARY)
    (case / "case.toml").write_text(
        f'id = "price"\nlanguage = "python"\ntask = "mend it"\ntest_command = "{COMMAND}"\n'
        'oracle = ["test_probe.Probe.test_everything"]\n'
        f'[extra]\ncheckout = "{secret.folder}"\npython = "{secret.folder}/bin/python"\n'
        f'tasks = "{secret.folder}/tasks"\n'
    )
    options = "--iterations", "1", "--seconds", "5", "--sandbox", engine
    _, output = ran("repair", "run", case.parent, "--out", tmp_path / "run", *options)
    assert kept_out(secret, output, tmp_path / "run")
    assert not (secret.folder / "tasks").exists()
    assert f"The cases name the project {secret.folder}" in output


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ('checkout = "/"', "holds a home folder"),
        ('checkout = "~"', "holds a home folder"),
        ('checkout = "OUTSIDE"', "--show"),
        ('checkout = "link"', "'link' leads out of the folder"),
    ],
)
def test_a_target_has_no_folder_elsewhere_copied(
    settings: str, why: str, secret: Outside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    (tmp_path / "shop/link").symlink_to(secret.folder)
    line = settings.replace("OUTSIDE", str(secret.folder)).replace("~", str(Path.home()))
    code, output = _reflect(tmp_path, f'{line}\ncheck = "cat secret"\n', "auto")
    assert (code, why in output) == (2, True), output
    assert kept_out(secret, output, tmp_path / "run")


@pytest.mark.parametrize(
    "settings", ['python = "OUTSIDE"', 'python = "/proc/self/root/OUTSIDE"', 'python = "link/bin/python"']
)
def test_a_target_names_no_environment_elsewhere(settings: str, secret: Outside, tmp_path: Path) -> None:
    (tmp_path / "shop/link").mkdir(parents=True)
    (tmp_path / "shop/link/bin").symlink_to(secret.folder / "bin")
    line = settings.replace("OUTSIDE", str(secret.folder))
    code, output = _reflect(tmp_path, f'checkout = "."\n{line}\ncheck = "python3 probe.py"\n', "auto")
    assert (code, "--show" in output) == (2, True)
    assert kept_out(secret, output, tmp_path / "run")


def test_the_lines_of_a_target_reach_nothing_outside(engine: str, secret: Outside, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/probe.py").write_text(secret.probe() + "\nunittest.main()\n")
    line = f"{secret.folder}/bin/python probe.py; python3 probe.py; cat {secret.folder}/secret; false"
    _, output = _reflect(tmp_path, f'checkout = "."\ncheck = "{line}"\n', engine)
    assert kept_out(secret, output, tmp_path / "run")


def _reflect(folder: Path, settings: str, engine: str) -> tuple[int, str]:
    target = folder / "shop/target.toml"
    item = '[[item]]\nid = "price"\ndescription = "It is 4."\ntry = ["true"]\n'
    target.write_text(f"{settings}{item}")
    options = "--out", folder / "run", "--sandbox", engine, "--attempts", "1"
    return ran("reflect", "run", "command", "--target", target, *options)


def test_a_case_of_triage_reaches_nothing_outside(engine: str, secret: Outside, tmp_path: Path) -> None:
    case = tmp_path / "cases/one"
    for part in ("environment", "tests", "workspace", "solution"):
        (case / part).mkdir(parents=True)
    (case / "tests/test_probe.py").write_text(secret.probe())
    for part in ("environment", "workspace"):
        (case / part / "lib").symlink_to(secret.folder / "lib")
    (case / "wheels").symlink_to(secret.folder)
    (case / "case.toml").write_text(
        'id = "one"\ntest_command = "python3 -m unittest -q tests/test_probe.py; cat lib/secret"\noutcome = "failed"\n'
    )
    _, output = ran("triage", tmp_path / "cases", "--access", "sandbox", "--out", tmp_path / "run", "--sandbox", engine)
    assert kept_out(secret, output, tmp_path / "run")
