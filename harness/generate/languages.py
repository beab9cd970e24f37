"""Five programming languages as a made-up project needs them: how files look, how tests run, what they print."""

from string import Template

from msgspec import Struct


class Language(Struct, frozen=True):
    """One language's file layout, text and commands.

    Parameters
    ----------
    suffix, source_folder, test_file, manifest
        Where things lie; `test_file` has the module's name for `{}`.
    head, function, comparison, limit, test
        Text with `$name`, `$upper`, `$noun`, `$number` and `$module`; `limit` and `comparison` are the lines that
        tasks ask to change, each once in a file.
    camel
        Whether names are written likeThis.
    test_all, test_one, lint, install, build
        Commands; `test_one` has the test file for `{}`, `install` a package.
    passed, failed_line, failed
        What the tests print, with `{passed}`, `{failed}`, `{name}`, `{file}`, `{left}`, `{right}` and `{seconds}`.
    failed_code
        The exit code of a run with failed tests.
    """

    name: str
    suffix: str
    source_folder: str
    test_file: str
    manifest: str
    head: Template
    function: Template
    comparison: Template
    limit: Template
    test: Template
    camel: bool
    test_all: str
    test_one: str
    lint: str
    install: str
    build: str
    passed: str
    failed_line: str
    failed: str
    failed_code: int = 1


PYTHON = Language(
    "python",
    ".py",
    "src/{project}",
    "tests/test_{}.py",
    "pyproject.toml",
    Template(
        '"""What the $module part does with each $noun."""\n\nimport logging\n\nlog = logging.getLogger(__name__)\n'
    ),
    Template(
        '$limit\n\n\ndef $name(entry, options=None):\n    """Go through the $noun of an entry."""\n'
        '$comparison\n        log.info("$name stopped at %s", entry.key)\n        return None\n'
        "    return entry.with_$noun(options or {})\n"
    ),
    Template("    if entry.${noun}_count > ${upper}_LIMIT:"),
    Template("${upper}_LIMIT = $number"),
    Template(
        "def test_$name():\n    entry = make_entry($noun=$number)\n    assert $name(entry) is not None\n"
        "    assert $name(entry).${noun}_count == $number\n"
    ),
    False,
    "python -m pytest -q",
    "python -m pytest -q {}",
    "ruff check .",
    "pip install {}",
    "python -m build",
    "{passed} passed in {seconds}s",
    "FAILED {file}::test_{name} - assert {left} == {right}",
    "{failed} failed, {passed} passed in {seconds}s",
)

TYPESCRIPT = Language(
    "typescript",
    ".ts",
    "src/{project}",
    "test/{}.test.ts",
    "package.json",
    Template("import { logger } from '../logger';\n\n// Everything that the $module part does with a $noun.\n"),
    Template(
        "$limit\n\nexport function $name(entry: Entry, options: Options = {}): Entry | undefined {\n"
        "$comparison\n    logger.info('$name stopped', entry.key);\n    return undefined;\n  }\n"
        "  return entry.with('$noun', options);\n}\n"
    ),
    Template("  if (entry.${noun}Count > ${upper}_LIMIT) {"),
    Template("export const ${upper}_LIMIT = $number;"),
    Template(
        "test('$name keeps a $noun', () => {\n  const entry = makeEntry({ $noun: $number });\n"
        "  expect($name(entry)?.${noun}Count).toBe($number);\n});\n"
    ),
    True,
    "npx vitest run",
    "npx vitest run {}",
    "npx eslint src",
    "npm install {}",
    "npm run build",
    " Tests  {passed} passed ({passed})\n Duration  {seconds}s",
    " FAIL  {file} > {name} keeps what it is given\nexpected {left} to be {right}",
    " Tests  {failed} failed | {passed} passed\n Duration  {seconds}s",
)

GO = Language(
    "go",
    ".go",
    "internal/{project}",
    "internal/checks/{}_test.go",
    "go.mod",
    Template("package $module\n\n// How the $module part handles a $noun.\n"),
    Template(
        "$limit\n\nfunc $name(entry *Entry, options Options) (*Entry, error) {\n"
        '$comparison\n\t\treturn nil, fmt.Errorf("$name stopped at %s", entry.Key)\n\t}\n'
        '\treturn entry.With("$noun", options), nil\n}\n'
    ),
    Template('\tif entry.Count("$noun") > ${name}Limit {'),
    Template("const ${name}Limit = $number"),
    Template(
        'func Test_$name(t *testing.T) {\n\tentry := newEntry("$noun", $number)\n'
        "\tgot, err := $name(entry, Options{})\n\trequire.NoError(t, err)\n\trequire.Equal(t, $number, got.Size())\n}\n"
    ),
    True,
    "go test ./...",
    "go test -v {}",
    "go vet ./...",
    "go get {}",
    "go build ./...",
    "ok  \tchecks\t{seconds}s ({passed} tests)",
    "--- FAIL: Test_{name} (0.00s)\n    {file}:31: want {right}, got {left}",
    "FAIL\tchecks\t{seconds}s ({failed} of {passed} and more)",
)

RUST = Language(
    "rust",
    ".rs",
    "crates/{project}/src",
    "crates/checks/tests/{}.rs",
    "Cargo.toml",
    Template("//! The $module part: what becomes of a $noun.\n\nuse crate::{Entry, Options};\n"),
    Template(
        "$limit\n\npub fn $name(entry: &Entry, options: &Options) -> Option<Entry> {\n"
        '$comparison\n        tracing::info!("$name stopped at {}", entry.key);\n        return None;\n    }\n'
        '    Some(entry.with("$noun", options))\n}\n'
    ),
    Template("    if entry.${noun}_count() > ${upper}_LIMIT {"),
    Template("const ${upper}_LIMIT: usize = $number;"),
    Template(
        '#[test]\nfn ${name}_keeps_it() {\n    let entry = new_entry("$noun", $number);\n'
        "    assert_eq!($name(&entry, &Options::default()).unwrap().size(), $number);\n}\n"
    ),
    False,
    "cargo test",
    "cargo test --test {}",
    "cargo clippy",
    "cargo add {}",
    "cargo build",
    "test result: ok. {passed} passed; 0 failed; finished in {seconds}s",
    "test {name}_keeps_it ... FAILED ({file}: left {left}, right {right})",
    "test result: FAILED. {passed} passed; {failed} failed; finished in {seconds}s",
    101,
)

JAVA = Language(
    "java",
    ".java",
    "app/src/main/java/{project}",
    "app/src/test/java/{}Test.java",
    "pom.xml",
    Template("package $module;\n\n/** What the $module part does with a $noun. */\n"),
    Template(
        "$limit\n\n    static Entry $name(Entry entry, Options options) {\n"
        '$comparison\n            LOG.info("$name stopped at " + entry.key());\n            return null;\n        }\n'
        '        return entry.with("$noun", options);\n    }\n'
    ),
    Template('        if (entry.count("$noun") > ${upper}_LIMIT) {'),
    Template("    static final int ${upper}_LIMIT = $number;"),
    Template(
        '    @Test\n    void ${name}KeepsIt() {\n        Entry entry = newEntry("$noun", $number);\n'
        "        assertEquals($number, $name(entry, Options.none()).size());\n    }\n"
    ),
    True,
    "mvn test",
    "mvn test -Dtest={}",
    "mvn checkstyle:check",
    "mvn dependency:get -Dartifact=org.example:{}:2.4.1",
    "mvn package",
    "Tests run: {passed}, Failures: 0\nBUILD SUCCESS\nTotal time: {seconds} s",
    "{file} > {name}KeepsIt() FAILED\n    expected: <{right}> but was: <{left}>",
    "Tests run: {passed} and {failed} more, Failures: {failed}\nBUILD FAILURE\nTotal time: {seconds} s",
)

LANGUAGES = (PYTHON, TYPESCRIPT, GO, RUST, JAVA)
