"""What a package manager would run is written out, so that the framework that runs the tests is seen."""

import json

import pytest

from misstep_harness.workspace.suite.run import plain_command

FILES = {
    "package.json": {"scripts": {"pretest": "tsc -b", "test": "vitest run --coverage", "all": "pnpm -r test"}},
    "packages/x/package.json": {
        "name": "@fruit/x",
        "scripts": {"test": "npm run lint && npm run unit", "lint": "eslint .", "unit": "nyc --all mocha 'a b/*.js'"},
    },
    "packages/y/package.json": {"name": "@fruit/y", "scripts": {"test": "npm test"}},
    "packages/z/package.json": {"scripts": {"test": ["jest"]}},
}


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("npm test", "; ( tsc -b && vitest run  )"),
        ("npm run test -- src/*.ts -t 'a b'", "vitest run  src/*.ts -t 'a b' )"),
        ("cd packages/x && npm t", "cd packages/x && ( ( eslint . ) && ( mocha 'a b/*.js' ) )"),
        ("npm --prefix packages/x run unit", """( cd "$MISSTEP_ROOT/packages/x" && PATH="$PWD/node_modules/.bin:"""),
        ("npm test -w @fruit/x", '"$MISSTEP_ROOT/packages/x" &&'),
        ("yarn workspace @fruit/x unit", '"$MISSTEP_ROOT/packages/x" &&'),
        ("CI=1 npx --no-install vitest run src/*.ts | cat", "; CI=1 vitest run src/*.ts | cat"),
        ("pnpm exec jest", "; jest"),
        ("yarn jest --ci", "; jest --ci"),
        ("npm install && npm test", "; npm install && ( tsc"),
    ],
)  # fmt: skip
def test_scripts_and_programs_are_written_out_without_coverage(command: str, line: str) -> None:
    written = plain_command(command, _read, lambda: list(FILES))
    assert line in written
    assert written.startswith('export PATH="$PWD/')


@pytest.mark.parametrize(
    "command",
    [
        "pnpm -r test",
        "npm run nothing",
        "npm ci",
        "npx -p typescript tsc",
        "cd packages/z && npm test",
        "python -m pytest",
    ],
)
def test_a_command_that_names_no_script_stays_as_it_is(command: str) -> None:
    assert plain_command(command, _read, lambda: list(FILES)) == command


def test_a_script_that_calls_itself_ends() -> None:
    assert "npm test" in plain_command("cd packages/y && npm test", _read)


def _read(path: str) -> str | None:
    return json.dumps(FILES[path]) if path in FILES else None


def test_a_manifest_that_is_nested_too_deeply_has_no_scripts() -> None:
    assert plain_command("npm test", lambda _: '{"scripts": ' + "[" * 100_000, lambda: ["package.json"]) == "npm test"
