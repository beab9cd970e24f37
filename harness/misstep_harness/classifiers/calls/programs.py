"""What shell programs do, as data: which only look, which change things, which run tests, which install."""


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def _sets(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {name: words(text) for name, text in table.items()}


LOOKS = words(
    "cat head tail less more nl bat grep egrep fgrep rg ag ack find fd ls tree stat file wc du df diff cmp sort uniq "
    "cut awk which whereis type echo printf env printenv id uname hostname ps top jobs date true false test [ seq "
    "basename dirname realpath readlink md5sum sha1sum sha256sum xxd hexdump od strings jq yq column tr rev comm join "
    "cd pwd whoami clear history man help [[ Get-Content Get-ChildItem Get-Item Get-Location "
    "Select-String Test-Path lsof netstat ss free uptime nproc git-grep open goto search_dir search_file "
    "find_file set export alias ulimit expr bc cal"
)
"""Programs that change no file by themselves (their output may be redirected: that is seen apart)."""

ORIENTS = words("pwd whoami date cd clear hostname uname id")
"""Programs that agents sprinkle between others to see where they are."""

WAITS = words(": sleep wait watch kubectl gh systemctl squeue qstat ps jobs docker-compose")
"""Programs that wait, or ask how something that runs elsewhere is doing."""

MOVES = words("scroll_down scroll_up goto next previous page_down page_up tmux screen xdotool")
"""Programs that move what is seen, or type into another program."""

GIT_LOOKS = words(
    "status diff log show blame grep ls-files rev-parse branch remote describe shortlog reflog cat-file config tag "
    "ls-remote rev-list whatchanged merge-base stash-list help version"
)
"""Git's commands that look (as most often used: with arguments some of them write, which is seen apart)."""

GIT_CHANGES_FILES = words("checkout restore reset clean apply am merge rebase revert cherry-pick pull stash switch")

GIT_LISTS = words(
    "-l --list -a -r -v -vv -n --contains --no-contains --merged --no-merged --points-at --sort --format --verify"
)
"""Flags with which `git branch` and `git tag` look."""

INSTALLERS: dict[str, frozenset[str]] = _sets(
    {
        "pip": "install",
        "pip3": "install",
        "pipx": "install",
        "uv": "add",
        "poetry": "add",
        "pdm": "add",
        "pipenv": "install",
        "conda": "install",
        "mamba": "install",
        "npm": "install i add ci",
        "yarn": "add install",
        "pnpm": "add install i",
        "bun": "add install",
        "apt": "install",
        "apt-get": "install",
        "apk": "add",
        "yum": "install",
        "dnf": "install",
        "brew": "install",
        "cargo": "add install",
        "mvn": "dependency:get",
        "gem": "install",
        "go": "get install",
        "bundle": "add install",
        "composer": "require install",
        "dotnet": "add",
    }
)
"""Package manager → the commands with which it installs."""

INSTALLERS_VALUES = words(
    "-r --requirement -e --editable -c --constraint -i --index-url --extra-index-url --index --find-links -t --target "
    "-n --name --channel -p --prefix --root --python --platform --cache-dir --group -G --extra --optional --registry "
    "--workspace --filter -C --dir --features -F --package --path --git --branch --tag --version --source -o"
)
"""Flags of package managers whose value, the word behind them, is no package."""

RECORDS_PACKAGES = words("npm yarn pnpm bun poetry uv pdm pipenv cargo go bundle composer dotnet")
"""Package managers that note in the project what they install."""

RUNNERS: dict[str, frozenset[str]] = _sets(
    {
        "uv": "run",
        "poetry": "run",
        "pipenv": "run",
        "pdm": "run",
        "hatch": "run",
        "npx": "",
        "bunx": "",
        "pnpx": "",
        "bundle": "exec",
        "pnpm": "exec dlx",
        "rye": "run",
    }
)
"""Programs that run another, and the command with which they do; without one, their first word is the other."""

RUN_A_FILE = words("bash sh zsh dash coverage xvfb-run")
"""Programs that run the file or the program that they are given."""

TEST_PROGRAMS = words(
    "pytest py.test tox nox nose2 nosetests jest vitest mocha ava karma cypress rspec phpunit ctest unittest trial "
    "behave runtests.py bats gotestsum"
)
TEST_COMMANDS: dict[str, frozenset[str]] = _sets(
    {
        "npm": "test t tst",
        "yarn": "test",
        "pnpm": "test t",
        "bun": "test",
        "go": "test",
        "cargo": "test nextest",
        "mvn": "test verify",
        "mvnw": "test verify",
        "gradle": "test check",
        "gradlew": "test check",
        "make": "test tests check unittest",
        "just": "test",
        "dotnet": "test",
        "bazel": "test",
        "swift": "test",
        "manage.py": "test",
        "rails": "test",
        "rake": "test spec",
        "mix": "test",
        "sbt": "test",
        "deno": "test",
        "playwright": "test",
        "hatch": "test",
        "stack": "test",
        "cabal": "test",
        "zig": "test",
        "flutter": "test",
        "composer": "test",
        "setup.py": "test",
    }
)
"""Program → the commands with which it runs tests."""

BUILDS = TEST_PROGRAMS | words(
    "make cmake ninja gcc g++ cc clang clang++ rustc cargo go javac java mvn gradle npm npx yarn pnpm tsc node deno "
    "python python3 ruby php perl dotnet swift ghc stack mix sbt bazel Rscript julia lua"
)
"""Programs that run or build the code under work: what they print is about that, unless it is about their own call."""

FORMATTERS = words("black isort autopep8 yapf autoflake gofmt rustfmt prettier clang-format ruff eslint")
PRINTING_FORMATTERS = words("prettier gofmt clang-format autopep8 yapf autoflake")
"""Formatters that print the new text unless they are told to write it."""

COMMON = (LOOKS | WAITS | BUILDS | FORMATTERS | frozenset(INSTALLERS) | frozenset(RUNNERS)) | words(
    "git rm mv cp mkdir touch chmod chown ln sed curl wget tar unzip ssh docker kill pkill bash sh"
)
"""Programs by which a text is known for a command line."""
