"""What a tool call is, by the tool's name and arguments: the same kinds across the formats that agents write.

Bash {"command": "ls"}   local_shell {"command": ["bash", "-lc", "ls"]}   → shell, command "ls"
Read {"file_path": "a.py", "offset": 100}   str_replace_editor {"command": "view", "path": "a.py"}   → read, path "a.py"
update_reservation {…} → change      get_user {…} → look
"""

import re
import shlex
from functools import lru_cache
from typing import Any, Literal

from misstep_harness.trajectory import ToolCall


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


Kind = Literal[
    "shell", "read", "search", "list", "edit", "write", "patch", "delete", "rename", "undo", "editor",
    "test", "look", "change", "run", "wait", "view", "ask", "note", "finish",
]  # fmt: skip
"""`editor` is a tool of many commands, told apart by its argument; `view` moves what is seen (scroll, press a key);
`note` writes down a thought or a plan; `look` and `change` are tools known only by the verb in their name."""

_NAMES: dict[Kind, str] = {
    "shell": "bash shell sh zsh terminal executebash run runcommand runshellcommand executecommand exec execcommand "
    "localshell localshellcall containerexec cmd command runinterminal runterminalcmd runterminalcommand shellexec "
    "execute executeshell bashcommand shellcommand powershell executeshellcommand runbash",
    "read": "read readfile view viewfile open openfile cat catfile readmanyfiles readtextfile getfilecontents "
    "filereader notebookread viewimage readlines fsread",
    "search": "grep search searchfile searchdir searchfiles codesearch grepsearch rg ripgrep findfile glob globsearch "
    "searchfilecontent findinfiles filesearch codebasesearch searchcode websearch googlewebsearch toolsearch",
    "list": "ls list listdir listdirectory listfiles tree",
    "edit": "edit editfile multiedit replace strreplace searchreplace replaceinfile insert insertline editblock "
    "notebookedit editnotebook searchandreplace findandreplace insertcontent "
    "replacestringininfile replacestringinfile inserteditintofile",
    "write": "write writefile createfile create writetofile savefile newfile filewrite fswrite",
    "patch": "applypatch patch applydiff applyedit",
    "delete": "deletefile removefile delete rm",
    "rename": "movefile renamefile mv",
    "undo": "undoedit undo",
    "editor": "strreplaceeditor strreplacebasededittool texteditor fileeditor editor strreplaceeditortool",
    "test": "runtests runtest test runtestsuite pytest",
    "run": "python ipython runipython executeipythoncell pythonexec codeinterpreter jupyter executecode runcode node "
    "browse browser task agent spawnagent",
    "wait": "wait sleep waitfor bashoutput killshell poll getprocessstatus commandstatus taskoutput waitagent",
    "view": "scroll scrolldown scrollup pagedown pageup gotoline goto nextpage previouspage presskey press sendkeys "
    "sendinput writestdin keystrokes terminalkeystrokes typetext type click browserclick navigate goback key "
    "findnext next previous executebashinput senddata",
    "ask": "ask askuser askuserquestion requestuserinput askfollowupquestion askhuman messageuser exitplanmode",
    "note": "think thought plan updateplan todowrite todo todolist updatetodos managetodolist writetodos note "
    "sequentialthinking recall taskcreate taskupdate tasklist updatetopic",
    "finish": "finish submit done complete taskdone attemptcompletion marktaskcomplete exit finaltext finalanswer",
}
_BY_NAME: dict[str, Kind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}

_BY_VERB: dict[Kind, str] = {
    "test": "test tests pytest",
    "wait": "wait sleep poll status monitor progress",
    "view": "scroll press keys keystrokes stdin click cursor page",
    "note": "think todo plan thought",
    "search": "search grep find glob lookup query",
    "look": "get list read view fetch show describe check count calculate retrieve inspect review analyze analyse "
    "explain compare diff validate verify help is has web",
    "delete": "",
    "change": "update create delete set write add remove insert edit replace modify book cancel send exchange return "
    "transfer put post patch move rename save upload commit push merge install apply drop",
}
_VERBS: dict[str, Kind] = {verb: kind for kind, verbs in _BY_VERB.items() for verb in verbs.split()}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_EDITOR: dict[str, Kind] = {
    "view": "read", "create": "write", "str_replace": "edit", "insert": "edit", "undo_edit": "undo", "edit": "edit",
    "delete": "delete", "rename": "rename", "read": "read", "write": "write",
}  # fmt: skip

PATH_KEYS = (
    "path", "file_path", "filePath", "filepath", "file", "filename", "file_name", "target_file", "targetFile",
    "absolute_path", "notebook_path", "target_notebook",
    "TargetFile", "AbsolutePath", "relative_path", "target", "dir_path", "directory",
)  # fmt: skip
COMMAND_KEYS = ("command", "cmd", "script", "commands", "shell_command", "keystrokes", "action", "code", "input")
_COMMAND_LINES = words("command cmd commandline shellcommand commands script keystrokes cmdline line argv")
"""Arguments, in small letters without punctuation, that hold a command line whatever the tool is called."""

_BESIDE = words("args argv arguments")
"""Arguments that hold the words after a program's name."""

FOLDER_KEYS = ("cwd", "workdir", "working_directory", "Cwd", "workingDirectory", "working_dir")
"""Arguments that say in which folder a command runs."""

OLD_KEYS = (
    "old_str",
    "old_string",
    "oldString",
    "old_text",
    "oldText",
    "search",
    "old",
    "target_content",
    "old_content",
)
NEW_KEYS = (
    "new_str", "new_string", "newString", "new_text", "newText", "replacement", "replace", "content", "file_text",
    "contents", "text", "new", "new_content", "insert_text", "code_edit", "new_source", "replacement_text",
)  # fmt: skip
_OLD_AND_NEW = 2
PATCH_KEYS = ("patch", "input", "diff", "patch_text", "patchText", "command", "changes")

NOISE = words(
    "description explanation thought thoughts reasoning rationale timeout timeout_ms timeoutMs security_risk blocking "
    "hidden confirmation_state is_static impl_source requires_approval task_progress toolSummary toolAction summary "
    "yield_time_ms max_output_tokens wait_ms_before_async justification is_background purpose duration "
    "nonce request_id requestId idempotency_key trace_id"
)
"""Arguments that say why or how long, not what: two calls that differ only in them are the same call."""


_NO_TEXTS = NOISE | set(PATH_KEYS) | {"command", "action", "mode"}
_BESIDES = NOISE | set(FOLDER_KEYS) | words("session_id sessionId shell_id shellId id name title mode shell")
_SHELLS = words("bash sh zsh dash powershell pwsh cmd")
_READ = 300
_FIRST_PROGRAM = re.compile(
    r"(?:\s*(?:[A-Za-z_]\w*=\S*|sudo|time|nohup|env)\s)*+\s*(?:[\w./-]*/)?([\w.+-]++)(?=[\s;&|]|$)"
)


@lru_cache(maxsize=4096)
def bare_name(name: str) -> str:
    """Return a tool's name without server and name space, as its author writes it: `mcp__git__log` → `log`."""
    last = name.rsplit("__", 1)[-1] if name.startswith("mcp__") else name
    return last.rsplit(".", 1)[-1].rsplit("/", 1)[-1] or name


@lru_cache(maxsize=4096)
def squeezed(name: str) -> str:
    """Return a name in small letters and digits only, so that `ReadFile`, `read_file` and `read-file` are one."""
    return letters_of(bare_name(name))


def letters_of(text: str) -> str:
    """Return the small letters and digits of a text."""
    return "".join(filter(str.isalnum, text.lower()))


@lru_cache(maxsize=4096)
def words_of(name: str) -> frozenset[str]:
    """Return the words of a tool's name in small letters."""
    return frozenset(word.lower() for word in _WORD.findall(bare_name(name)))


@lru_cache(maxsize=4096)
def kind_by_name(name: str) -> Kind:
    """Return the kind that a tool's name tells; an unknown name goes by its verbs, and is `run` where it has none."""
    known = _BY_NAME.get(squeezed(name)) or _BY_NAME.get(name.lower().replace(".", "").replace("_", ""))
    if known:
        return known
    words = [word.lower() for word in _WORD.findall(bare_name(name))]
    if any(_VERBS.get(word) == "wait" for word in words):
        return "wait"
    if words and words[0] in _VERBS and _VERBS[words[0]] in ("look", "change", "search"):
        return _VERBS[words[0]]
    for word in words:
        if word in _VERBS:
            return _VERBS[word]
    return "run"


def kind_of(call: ToolCall) -> Kind:
    """Return what kind of call it is; an unknown tool with a command line is a shell."""
    kind = kind_by_name(call.name)
    arguments = call.arguments
    if kind == "editor" or (kind == "edit" and isinstance(arguments, dict) and "command" in arguments):
        command = arguments.get("command") if isinstance(arguments, dict) else None
        kind = _EDITOR.get(command, "edit") if isinstance(command, str) else "edit"
    if kind != "shell" and isinstance(arguments, dict) and _takes_commands(call.name, arguments):
        return "shell"
    return kind


def _takes_commands(name: str, arguments: dict[str, Any]) -> bool:
    """Whether the first argument of a tool is a command line: of its own name, or of a program that is well known."""
    for key, value in arguments.items():
        if squeezed(key) not in _COMMAND_LINES:
            continue
        line = _line_of(value)
        if len(arguments) == 1 and line.startswith(name):
            return True
        first = _FIRST_PROGRAM.match(line[:_READ])
        return first is not None and first[1] in COMMON and not is_known_name(name)
    return False


def first_text(arguments: Any, keys: tuple[str, ...]) -> str:
    """Return the first of `keys` that holds text, or an empty string."""
    if isinstance(arguments, dict):
        for key in keys:
            if key in arguments:
                value = arguments[key]
                if isinstance(value, str) and value:
                    return value
    return ""


def path_of(call: ToolCall) -> str:
    """Return the file or folder that a call names, as the agent wrote it; empty where it names none."""
    return first_text(call.arguments, PATH_KEYS)


def command_of(call: ToolCall) -> str:
    """Return the command line of a shell's call: in an argument of a usual name, or in the only one that is text."""
    arguments = call.arguments
    if isinstance(arguments, str):
        return arguments
    for key in COMMAND_KEYS:
        if key in arguments and (line := _line_of(arguments[key])):
            if " " in line.strip():
                return line
            beside = next((value for key, value in arguments.items() if key in _BESIDE and isinstance(value, list)), [])
            return f"{line} {_line_of(beside)}" if beside else line
    if any(key in arguments for key in COMMAND_KEYS):
        return ""
    texts = {key: line for key, value in arguments.items() if key not in _BESIDES and (line := _line_of(value))}
    named = [line for key, line in texts.items() if squeezed(key) in _COMMAND_LINES]
    return named[0] if named else next(iter(texts.values())) if len(texts) == 1 else ""


def lacks_a_command(call: ToolCall) -> bool:
    """Whether a call of a shell gives it nothing to do: no command, be it empty, and no running program to ask."""
    arguments = call.arguments
    return (
        call.recorded
        and isinstance(arguments, dict)
        and not any(
            key in COMMAND_KEYS or value is True or (key not in NOISE and squeezed(key).endswith(("id", "restart")))
            for key, value in arguments.items()
        )
    )


def _line_of(value: Any) -> str:
    """Return a command line as text, as its words, as several lines, or inside an object; empty for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return next((line for key in COMMAND_KEYS if key in value and (line := _line_of(value[key]))), "")
    if not isinstance(value, list):
        return ""
    if all(isinstance(word, str) for word in value):
        return "\n".join(value) if len(value) > 1 and all(" " in word for word in value) else _joined(value)
    return "\n".join(filter(None, (_line_of(part).strip("\n") for part in value if isinstance(part, dict))))


def _joined(words: list[str]) -> str:
    if len(words) == 3 and words[0].rsplit("/", 1)[-1].removesuffix(".exe") in _SHELLS and words[1][:1] in "-/":
        return words[2]
    return shlex.join(words)


def edit_texts(call: ToolCall) -> tuple[str, str]:
    """Return the text that an edit takes away and the text that it puts in; empty where the call does not say."""
    old, new = first_text(call.arguments, OLD_KEYS), first_text(call.arguments, NEW_KEYS)
    if old or new or isinstance(call.arguments, str):
        return old, new
    # An own tool's edit: a file, and two texts of which the second takes the place of the first.
    texts = [value for key, value in call.arguments.items() if isinstance(value, str) and key not in _NO_TEXTS]
    return (texts[0], texts[1]) if len(texts) == _OLD_AND_NEW else ("", "")


def is_known_name(name: str) -> bool:
    """Return whether agents' tools are commonly called so."""
    return squeezed(name) in _BY_NAME
