"""What the user asks to be done in a certain way: tools and modes, commands, files, an order of steps.

    "Use the `review_code` tool with mode `thorough`."  → Instruction("tool", ("review_code",), mode="thorough")
    "Run the tests before you finish."                  → Instruction("tests", …)
    "Use pnpm, not npm."                                → Instruction("avoid", ("npm",), instead="pnpm")
    "Ask me before deleting anything."                  → Instruction("ask", ("delete",))

Offers ("you can use …"), conditions ("if you need it, run …") and descriptions ("run `x` and you will see …") are none.
"""

import re
from typing import Literal

from msgspec import Struct, structs

from harness.classifiers.history import Turn
from harness.classifiers.programs import PROGRAMS, words
from harness.classifiers.prose import NAME, Prose, prose_of
from harness.classifiers.tools import is_known_name
from harness.classifiers.wording import NOT, as_path

Sort = Literal["tool", "command", "tests", "check", "file", "read", "avoid", "avoid tests", "avoid all", "ask"]


class Instruction(Struct, frozen=True, gc=False):
    """One instruction, in force from the turn `since` until the turn `until` (`None`: to the end).

    `names` are the tool, the words of the command, the file, or what may not be used; `mode` is the mode that the
    tool is to be called with; `words` are the user's.
    """

    sort: Sort
    names: tuple[str, ...]
    since: int
    words: str
    mode: str = ""
    instead: str = ""
    until: int | None = None


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


GATE = ("use", "using", "run", "call", "invoke", "execute", "writ", "save", "creat", "put ", "generat", "output", "ask",
        "read ", "check", "confirm", "approv", "permission", "consult", "look at", "export", "store")  # fmt: skip
"""Words of which every instruction has one."""

_ORDER = (
    r"(?:(?:^|[.!?:;,(—–\-*•]\s*|\b(?:and|but|so|then|please|also|just|finally|first|next|instead|"
    r"always|you (?:must|should|need to|have to)|ok|okay|now|"
    r"afterwards|lastly|(?:make |be )?sure (?:to|you|that you)|(?:remember|don't forget|do not forget|"
    r"want you|like you|need you|have|ask you) to|"
    r"(?:can|could|would) you)\s+)(?:please\s+|also\s+|then\s+|always\s+|only\s+|first\s+|finally\s+|\d+[.)]\s*)*)"
)
_OFFER = _compiled(
    r"\b(?:if|unless|whenever|in case|where (?:appropriate|needed|possible|applicable)|as (?:needed|"
    r"necessary|appropriate)|optionally|feel free|"
    r"you (?:can|may|could|might|don't (?:have|need)|do not (?:have|need))|maybe|perhaps|for example|"
    r"e\.g|such as|might (?:want|be)|good idea|"
    r"when (?!you(?:'re| are| have|'ve)?\s*(?:are )?(?:done|finish(?:ed)?|ready)|done|finished|everything|all|it))\b"
)
_REPORT = _compiled(
    r"\b(?:you(?:'ll| will| can| should|'d)? (?:see|get|notice|observe)|reproduc\w+|repro|fail(?:s|ed|"
    r"ing)?|crash(?:es|ed)?|errors?|happens|observe|"
    r"i (?:ran|run|get|got|see|saw|tried|use|used|am|have|had)|when (?:i|we|users?)|it (?:prints|"
    r"shows|gives|says|returns|outputs|should)|expected|actual)\b"
)
_NO_TOOL = words(
    "right appropriate same this that a an any provided available following correct proper best your new cli internal "
    "these those other own external dedicated special existing suitable relevant built-in builtin another the"
)
_TOOL_WORD = r"(?:mcp )?(?:tool|skill|sub-?agent|mcp server|slash command)"
_VERB_TOOL = (
    r"(?:use|call|invoke|run|execute|do (?:this|it|that) (?:with|using|via)|\w+[^.;]{0,80}?\b(?:using|via|with))"
)
_TOOLS = [
    _compiled(rf"{_ORDER}{_VERB_TOOL}\s+(?:the\s+|our\s+|my\s+)?(?P<name>{NAME}|[a-z][\w-]+)\s+{_TOOL_WORD}\b"),
    _compiled(
        rf"{_ORDER}{_VERB_TOOL}\s+(?:the\s+)?{_TOOL_WORD}\s+(?:called\s+|named\s+)?(?P<name>{NAME}|"
        r"[a-z]\w*_\w+)"
    ),
    _compiled(
        rf"{_ORDER}(?:use|call|"
        r"invoke)\s+(?:the\s+)?(?P<name>[a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b(?!\s*(?:function|method|variable|"
        r"class|helper|fixture|decorator|param|arg|field|module))"
    ),
    _compiled(
        rf"{_ORDER}(?:use|call|invoke|run)\s+(?:the\s+)?(?P<name>{NAME})\s+(?:(?:in|with|"
        rf"using)\s+)(?:the\s+|a\s+)?(?:{NAME}\s+mode|mode\b|\w+ mode\b|(?={NAME}))"
    ),
]
_MODES = [
    _compiled(
        rf"\b(?:mode|level|profile)\s*(?:=|:|set to|of|as|is)?\s*(?P<mode>{NAME}|(?!(?:and|or|to|on|for|in|"
        r"so|then|before|after|when|with)\b)[a-z][\w-]+)"
    ),
    _compiled(
        rf"\b(?:in|with|using|its)\s+(?:the\s+|a\s+)?(?P<mode>{NAME}|(?!(?:the|a|"
        r"an)\b)[a-z][\w-]+)\s+(?:mode|level|profile)\b"
    ),
    _compiled(rf"\b(?:with|using)\s+(?P<mode>{NAME})"),
]
_ASSIGNED = re.compile(r"^[\w-]+\s*[=:]\s*['\"]?([\w-]+)['\"]?$")
_CALLED = re.compile(r"^([\w.-]+)\((.*)\)$", re.DOTALL)
_INSIDE_CALL = re.compile(r"['\"]([\w-]+)['\"]")
_RUN = rf"{_ORDER}(?:run|execute|re-?run)\s+"
_ENDS = (
    r"(?=\s*(?:$|[.,;:!?)—–-]|(?:and|before|after|once|when|at|to|again|then|as|so|on|first|but|until|"
    r"for|one|every|yourself|locally|successfully)\b))"
)
_COMMAND = [
    _compiled(rf"{_RUN}(?:the\s+)?(?:command\s+|script\s+)?(?P<name>{NAME})(?:\s+(?:command|script))?{_ENDS}"),
    _compiled(
        rf"{_RUN}(?P<bare>(?:pytest|tox|nox|jest|vitest|mypy|ruff|black|flake8|eslint|prettier|tsc|(?:make|"
        r"npm run|npm|yarn|pnpm run|pnpm|cargo|go|just) "
        rf"(?!before|after|and|to|on|in|the|again|once|when|for|with|first|at|then|as)[\w:-]+)){_ENDS}"
    ),
]
_TESTS = _compiled(
    rf"{_RUN}(?:(?:all|of|the|our|your|my|full|whole|entire|existing|unit|relevant|complete|"
    r"integration|related|those|these|and)\s+)*"
    r"(?:tests?(?: ?suite)?|test suites?|specs)\b(?! (?:file|case|method|named|called|server|script|"
    r"command|in |under |from |for ))"
)
_CHECKS: tuple[tuple[str, frozenset[str], re.Pattern[str]], ...] = (
    (
        "linter",
        words("lint ruff flake8 eslint pylint clippy golangci rubocop biome pre-commit check vet stylelint standard"),
        _compiled(rf"{_RUN}(?:the |our |your )?(?:linters?|lint(?:ing)?(?: checks?)?)\b"),
    ),
    (
        "type checker",
        words("mypy pyright tsc type pyre flow check sorbet build"),
        _compiled(rf"{_RUN}(?:the |our |your )?type[- ]?check(?:er|s|ing)?\b"),
    ),
    (
        "formatter",
        words("fmt format black prettier gofmt rustfmt ruff isort biome yapf pre-commit --fix"),
        _compiled(rf"{_RUN}(?:the |our |your )?(?:code )?formatters?\b"),
    ),
)
_MAKE = r"(?:write|save|put|create|generate|output|store|export|dump|record|produce|place)"
_FILES = [
    _compiled(
        rf"{_ORDER}{_MAKE}\b(?:\s+[^\s.;]+){{0,14}}?\s+(?:to|in|into|at|as|called|named)\s+(?:a\s+|an\s+|"
        rf"the\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+|at\s+)?(?P<name>{NAME})"
    ),
    _compiled(
        rf"{_ORDER}(?:create|write|generate|produce)\s+(?:a\s+|an\s+|"
        r"the\s+)?(?:new\s+)?(?:\w+\s+)?(?:file\s+|script\s+|document\s+|report\s+|"
        rf"module\s+)?(?:called\s+|named\s+|at\s+|in\s+)?(?P<name>{NAME})"
    ),
]
_LOOK = (
    r"(?:read(?:ing)?|look(?:ing)? at|check(?:ing)?|consult(?:ing)?|review(?:ing)?|go(?:ing)? through|"
    r"stud(?:y|ying)|open(?:ing)?)"
)
_READS = [
    _compiled(
        rf"{_ORDER}{_LOOK}\s+(?:the\s+|our\s+|my\s+)?(?:\w+ (?:in|"
        rf"from)\s+)?(?:file\s+)?(?P<name>{NAME})(?:\s+\w+){{0,3}}?\s*,?\s*(?:first\b|before\b)"
    ),
    _compiled(
        r"(?:^|[.;:,]\s*|\b(?:please|then)\s+)(?:first|start by|begin by|begin with|start with|"
        r"before (?:you do |doing )?(?:anything|any (?:changes|edits|code)|"
        r"making (?:any )?changes|you (?:start|begin|change anything)|editing|coding|"
        rf"starting))\s*,?\s*(?:please\s+)?{_LOOK}\s+(?:the\s+|our\s+)?(?:file\s+)?(?P<name>{NAME})"
    ),
]
_BARE = "|".join(sorted((re.escape(program) for program in PROGRAMS if len(program) > 1), key=len, reverse=True))
_PROGRAM = rf"(?:{NAME}|(?:{_BARE})(?![\w-]))"
_INSTEAD = [
    _compiled(
        rf"(?<!\bi )(?<!\bwe )(?<!\bthey )\buse\s+(?P<good>{_PROGRAM})(?:\s+\w+){{0,4}}?\s*,?\s*"
        rf"(?:and\s+)?\(?(?:not|instead of|rather than|over|never)\s+(?P<bad>{_PROGRAM})"
    ),
    _compiled(
        rf"{NOT}use\s+(?P<bad>{_PROGRAM})(?:\s+\w+){{0,3}}?\s*(?:[,;:.—–-]+|\bbut\b|"
        rf"\band\b)\s*(?:please\s+)?use\s+(?P<good>{_PROGRAM})"
    ),
    _compiled(rf"\binstead of\s+(?P<bad>{_PROGRAM})\s*,?\s*(?:please\s+)?use\s+(?P<good>{_PROGRAM})"),
]
_STOPS = (
    r"(?=\s*(?:$|[.,;:!?)—–-]|(?:and|or|but|yet|until|for|please|because|since|at all|myself|i|"
    r"in this|here|anymore|any more|now|to|as it|as they)\b))"
)
_NEVER = (
    rf"(?:(?:^|[.!?:;,(—–\-*•]\s*|\b(?:and|but|so|please|also|ok|okay|just|you|sure|then)\s+){NOT}|"
    r"\bwithout\s+)(?:actually\s+)?"
)
_AVOID_TESTS = _compiled(
    rf"{_NEVER}(?:run|execute|running|executing|re-?run)\s+(?:any\s+|the\s+|our\s+|all\s+|unit\s+|"
    rf"full\s+|these\s+)*(?:tests?(?: suite)?|specs){_STOPS}"
)
_AVOID_ALL = _compiled(
    rf"{_NEVER}(?:run|execute|running|executing|use|using)\s+(?:any\s+)?(?:(?:shell|terminal|"
    rf"bash)\s+)?(?:commands?|anything|the (?:shell|terminal)){_STOPS}"
)
_AVOID = _compiled(
    rf"{_NEVER}(?:run|execute|use|call|invoke|running|using|"
    rf"calling)\s+(?:the\s+)?(?P<bad>{_PROGRAM})(?P<word>\s+(?:tool|command|cli|skill))?{_STOPS}"
)
_GERUNDS: tuple[tuple[str, str], ...] = (
    ("delete", r"delet(?:e|ing)|remov(?:e|ing)"),
    (
        "install",
        r"install(?:ing)?|add(?:ing)? (?:any |new |a |another )*(?:dependenc(?:y|ies)|packages?|"
        r"librar(?:y|ies))",
    ),
    ("commit", r"commit(?:ting)?"),
    ("push", r"push(?:ing)?"),
    (
        "edit",
        r"(?:edit|chang|modify|touch|updat|implement|cod|refactor)(?:e|ing)?|mak(?:e|ing) (?:any |the |"
        r"these |further )*(?:code )?(?:changes|edits)|"
        r"writ(?:e|ing) (?:any |the )?code|start(?:ing)? (?:to )?(?:cod|implement|edit)(?:e|ing)?|"
        r"start(?:ing)? (?:work|the implementation)",
    ),
)
_ASKED = (
    r"(?:ask(?: me| for (?:my )?(?:permission|confirmation|approval))?|check with me|confirm with me|"
    r"check in with me|get (?:my |explicit )+(?:approval|ok|okay|permission|confirmation|sign-off|"
    r"go-ahead)|wait for (?:my |me to )?(?:\w+))"
)
_ASKS = [
    (what, _compiled(pattern))
    for what, gerund in _GERUNDS
    for pattern in (
        rf"\b{_ASKED}(?:\s+\w+){{0,3}}?\s+before\s+(?:you\s+)?(?:{gerund})\b",
        rf"\bbefore\s+(?:you\s+)?(?:{gerund})\b[^.;]{{0,60}}?,\s*(?:please\s+|always\s+)?{_ASKED}\b",
        rf"{_NEVER}(?:{gerund})\b[^.;]{{0,60}}?\s(?:without|until you) (?:first )?"
        r"(?:ask|check(?:ing)? with|my |confirm|get|explicit|having ask)",
    )
]
_BUG_REPORT = _compiled(
    r"\b(?:(?:steps|how|way|order) to reproduc\w+|to reproduce\b|(?:actual|expected|"
    r"current) (?:result|behaviou?r|output)s?\b)"
)
"""Words of a turn that reports a bug: what it says to run or to create there is how to see the bug."""

_CANCELLED = _compiled(
    r"\b(?:never ?mind|no need|skip (?:that|the|it|this)|forget (?:about )?(?:it|that|the|what)|"
    r"don't bother|doesn't matter|ignore (?:that|my|the)|you can (?:stop|skip))\b"
)


def instructions_of(turns: list[Turn]) -> list[Instruction]:
    """The instructions of a run's turns, each until a later turn takes it back."""
    found: list[Instruction] = []
    for turn in turns:
        if not _may_instruct(turn.text):
            continue
        prose = prose_of(turn.text)
        text = " ".join(prose.sentences)
        found = [_until(one, turn.step, text, prose) for one in found]
        for sentence in prose.sentences:
            if _may_instruct(sentence):
                found += _sentence(sentence, prose, turn.step)
        if _BUG_REPORT.search(text):
            found = [one for one in found if one.since != turn.step or one.sort not in ("command", "file", "read")]
    return found


def _may_instruct(text: str) -> bool:
    lowered = text[:20_000].lower()
    return any(word in lowered for word in GATE)


def _until(one: Instruction, step: int, text: str, prose: Prose) -> Instruction:
    """An instruction as a later turn leaves it: asking is settled by any turn, a ban by asking for what it forbids."""
    if one.until is not None:
        return one
    lifted = one.sort == "ask" or _CANCELLED.search(text) is not None
    if one.sort.startswith("avoid"):
        words = prose.shown(text).lower()
        asked = any(name.lower() in words for name in one.names) or (
            one.sort != "avoid" and re.search(r"\b(?:run|test)", words)
        )
        lifted = lifted or bool(asked and not re.search(r"n't|not |never|without", words))
    if not lifted:
        return one
    return structs.replace(one, until=step)


def _sentence(sentence: str, prose: Prose, step: int) -> list[Instruction]:
    words = prose.shown(sentence)

    def made(sort: Sort, *names: str, mode: str = "", instead: str = "") -> Instruction:
        return Instruction(sort, names, step, words, mode, instead)

    asked = [made("ask", what) for what, pattern in _ASKS if pattern.search(sentence)]
    if asked:
        return asked[:1]
    if (instead := _instead(sentence, prose)) is not None:
        return [made("avoid", instead[1], instead=instead[0])]
    if _OFFER.search(sentence):
        return []
    if _AVOID_TESTS.search(sentence):
        return [made("avoid tests", "tests")]
    if _AVOID_ALL.search(sentence):
        return [made("avoid all", "commands")]
    if (match := _AVOID.search(sentence)) is not None:
        name = _named(match["bad"], prose)
        known = name.split(" ")[0] in PROGRAMS or (match["word"] or "").strip() in ("tool", "skill")
        return [made("avoid", name)] if known else []
    found = [made("tool", name, mode=mode) for name, mode in _tools(sentence, prose)]
    if _REPORT.search(sentence):
        return found
    if not found:
        found += [made("command", *line.split()) for line in _commands(sentence, prose)]
    if not found and _TESTS.search(sentence):
        found.append(made("tests", "tests"))
    found += [
        made("check", *sorted(names), mode=label) for label, names, pattern in _CHECKS if pattern.search(sentence)
    ]
    for sort, patterns in (("file", _FILES), ("read", _READS)):
        for name in _paths(sentence, prose, patterns):
            found.append(made("file" if sort == "file" else "read", name))
    return found


def _named(text: str, prose: Prose) -> str:
    names = prose.names_in(text)
    return names[0] if names else text


def _instead(sentence: str, prose: Prose) -> tuple[str, str] | None:
    """What is to be used and what it is to be used instead of, where both are programs."""
    for pattern in _INSTEAD:
        match = pattern.search(sentence)
        if match:
            good, bad = _named(match["good"], prose).lower(), _named(match["bad"], prose).lower()
            if good != bad and bad.split(" ")[0] in PROGRAMS and good.split(" ")[0] in PROGRAMS:
                return good, bad
    return None


def _tools(sentence: str, prose: Prose) -> list[tuple[str, str]]:
    for pattern in _TOOLS:
        match = pattern.search(sentence)
        if match is None:
            continue
        name = _named(match["name"], prose)
        mode = ""
        if (called := _CALLED.match(name)) is not None:
            name = called.group(1)
            inside = _INSIDE_CALL.search(called.group(2))
            mode = inside.group(1) if inside else ""
        if not re.fullmatch(r"[\w.:/-]+", name) or name.lower() in _NO_TOOL or as_path(name) is not None:
            continue
        if not match["name"].startswith("\ue000") and "_" not in name and not is_known_name(name):
            continue
        return [(name, mode or _mode(sentence[match.end("name") :], prose))]
    return []


def _mode(rest: str, prose: Prose) -> str:
    for pattern in _MODES:
        match = pattern.search(rest)
        if match:
            mode = _named(match["mode"], prose)
            assigned = _ASSIGNED.match(mode)
            return assigned.group(1) if assigned else mode if re.fullmatch(r"[\w-]+", mode) else ""
    return ""


def _commands(sentence: str, prose: Prose) -> list[str]:
    for pattern in _COMMAND:
        match = pattern.search(sentence)
        if match is None:
            continue
        line = _named(match.group("name") if "name" in pattern.groupindex else match.group("bare"), prose).strip("$ ")
        first = line.split(" ")[0] if line else ""
        if "<" in line or "..." in line:
            continue
        if first in PROGRAMS or first.startswith("./") or first.endswith((".sh", ".py")):
            return [line]
    return []


def _paths(sentence: str, prose: Prose, patterns: list[re.Pattern[str]]) -> list[str]:
    for pattern in patterns:
        match = pattern.search(sentence)
        if match:
            name = _named(match["name"], prose)
            target = as_path(name)
            if (
                target is not None
                and target.sort == "path"
                and "." in name.rsplit("/", 1)[-1].lstrip(".")
                and "*" not in name
            ):
                return [name]
    return []
