"""How users word what is to be done in a certain way: the patterns by which `instructions` finds them in a sentence.

Each pattern is over a sentence whose names are taken out (see `prose`); its groups say which name is what.
"""

import re

from harness.classifiers.programs import PROGRAMS, words
from harness.classifiers.prose import NAME, Phrase, anywhere, phrase
from harness.classifiers.wording import NOT


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


GATE = (
    "tool", "mode", "skill",
    "use", "using", "run", "call", "invoke", "execute", "writ", "save", "creat", "put ", "generat", "output", "ask",
    "read ", "check", "confirm", "approv", "sentence", "word", "pass ", "add ", "first", "start", "wrong", "still",
    "forgot", "meant", "said", "permission", "consult", "look at", "export", "store", "no,", "no.", "no ",
    "not quite", "wait", "tell me", "show me", "do it", "do this", "do that", "go through",
)  # fmt: skip
"""Words of which every instruction has one."""


AVOID_WORDS = ("n't", "not ", "never", "without", "avoid", "dont ", "refrain")
FILE_WORDS = (
    "write", "save", "put ", "create", "generat", "output", "store", "export", "dump", "record", "produce", "place",
)  # fmt: skip
"""Pieces of words, in small letters, of which a sentence has one where a pattern of the same name can match."""

ORDER = (
    r"(?:(?:^|[.!?:;,(—–\-*•]\s*|\b(?:and|but|so|then|please|also|just|finally|first|next|instead|"
    r"always|from (?:now|here) on,?|you (?:must|should|need to|have to)|ok|okay|now|"
    r"afterwards|lastly|(?:make |be )?sure (?:to|you|that you)|(?:remember|don't forget|do not forget|"
    r"want you|like you|need you|have|ask you) to|"
    r"(?:can|could|would) you)\s+)(?:please\s+|also\s+|then\s+|always\s+|only\s+|first\s+|finally\s+|\d+[.)]\s*)*)"
)
NOT_ASKED = _compiled(
    r"\b(?:no need|needn't|don't (?:have|need)|do not (?:have|need)|not necessary|without having) to ask\b"
)
OFFER = anywhere(
    r"\b(?:if|unless|whenever|in case|where (?:appropriate|needed|possible|applicable)|as (?:needed|"
    r"necessary|appropriate)|optionally|feel free|"
    r"you (?:can|may|could|might|don't (?:have|need)|do not (?:have|need))|maybe|perhaps|for example|"
    r"e\.g|such as|might (?:want|be)|good idea|"
    r"when (?!you(?:'re| are| have|'ve)?\s*(?:are )?(?:done|finish(?:ed)?|ready|through)|done|"
    r"finished|everything|all|it))\b"
)
REPORT = anywhere(
    r"\b(?:you(?:'ll| will| can| should|'d)? (?:see|get|notice|observe)|reproduc\w+|repro|fail(?:s|ed|"
    r"ing)?|crash(?:es|ed)?|errors?|happens|observe|"
    r"i (?:ran|run|get|got|see|saw|tried|use|used|am|have|had)|when (?:i|we|users?)|it (?:prints|"
    r"shows|gives|says|returns|outputs|should)|expected|actual)\b"
)
NO_TOOL = words(
    "right appropriate same this that a an any provided available following correct proper best your new cli internal "
    "these those other own external dedicated special existing suitable relevant built-in builtin another the"
)
TOOL_WORD = r"(?:mcp )?(?:tool|skill|sub-?agent|mcp server|slash command)"
VERB_TOOL = (
    r"(?:use|call|invoke|run|execute|do (?:this|it|that) (?:with|using|via)|\w+[^.;]{0,80}?\b(?:using|via|with))"
)
TOOLS = [
    phrase(
        "tool|skill|agent|server|command & us|call|invok|run|execut|via|with",
        rf"{ORDER}{VERB_TOOL}\s+(?:the\s+|our\s+|my\s+)?(?P<name>{NAME}|[a-z][\w-]+)\s+{TOOL_WORD}\b",
    ),
    phrase(
        "tool|skill|agent|server|command & us|call|invok|run|execut|via|with",
        rf"{ORDER}{VERB_TOOL}\s+(?:the\s+)?{TOOL_WORD}\s+(?:called\s+|named\s+)?(?P<name>{NAME}|"
        r"[a-z]\w*_\w+)",
    ),
    phrase(
        "_ & use|call|invok",
        rf"{ORDER}(?:use|call|"
        r"invoke)\s+(?:the\s+)?(?P<name>[a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b(?!\s*(?:function|method|variable|"
        r"class|helper|fixture|decorator|param|arg|field|module))",
    ),
    phrase(
        "mode|with|using & use|call|invok|run",
        rf"{ORDER}(?:use|call|invoke|run)\s+(?:the\s+)?(?P<name>{NAME})\s+(?:(?:in|with|"
        rf"using)\s+)(?:the\s+|a\s+)?(?:{NAME}\s+mode|mode\b|\w+ mode\b|(?={NAME}))",
    ),
    phrase(
        "_",
        r"\b(?:using|via|with|through)\s+(?P<name>[a-z]+(?:_[a-z]+){2,})(?=\s*(?:$|[.,;!)]))",
    ),
]
MODES = [
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
ASSIGNED = re.compile(r"^[\w-]+\s*[=:]\s*['\"]?([\w-]+)['\"]?$")
CALLED = re.compile(r"^([\w.-]+)\((.*)\)$", re.DOTALL)
INSIDE_CALL = re.compile(r"['\"]([\w-]+)['\"]")
RUN = rf"{ORDER}(?:run|execute|re-?run)\s+"
ENDS = (
    r"(?=\s*(?:$|[.,;:!?)—–-]|(?:and|before|after|once|when|at|to|again|then|as|so|on|first|but|until|"
    r"for|one|every|yourself|locally|successfully)\b))"
)
_TESTS = (
    r"(?:(?:all|of|the|our|your|my|full|whole|entire|existing|unit|relevant|complete|integration|related|those|these|"
    r"and|a|run)\s+)*(?:tests?(?: ?suite)?|test suites?|specs)\b"
)
COMMAND = [
    phrase(
        "run|execut & with|using|via|through",
        rf"{RUN}(?:{_TESTS}|it|them|this|that|everything)\s+(?:with|using|via|through)\s+(?P<name>{NAME})",
    ),
    phrase("run|execut", rf"{RUN}(?:the\s+)?(?:command\s+|script\s+)?(?P<name>{NAME})(?:\s+(?:command|script))?{ENDS}"),
    phrase(
        "run|execut & pytest|tox|nox|jest|vitest|mypy|ruff|black|flake8|eslint|prettier|tsc|make|npm|yarn|cargo|"
        "go |just ",
        rf"{RUN}(?P<bare>(?:pytest|tox|nox|jest|vitest|mypy|ruff|black|flake8|eslint|prettier|tsc|(?:make|"
        r"npm run|npm|yarn|pnpm run|pnpm|cargo|go|just) "
        rf"(?!before|after|and|to|on|in|the|again|once|when|for|with|first|at|then|as)[\w:-]+)){ENDS}",
    ),
]
TESTS = phrase(
    "run|execut & test|spec",
    rf"{RUN}{_TESTS}(?! (?:file|case|method|named|called|server|script|"
    r"command|in |under |from |for ))",
)
_ANY_CHANGE = r"(?:chang|touch|edit|mak|modify|writ|start|do)(?:e|ing)?\b"
BASELINE = [
    phrase("test|spec & first|start|begin", rf"\bfirst\b,?\s+(?:please\s+)?(?:run|execute)\s+{_TESTS}"),
    phrase("test|spec & start|begin", rf"\b(?:start|begin) (?:with|by) (?:running\s+)?{_TESTS}"),
    phrase("test|spec & before", rf"\brun\s+{_TESTS}(?:\s+(?:once|first))*\s+before\s+(?:you\s+)?{_ANY_CHANGE}"),
    phrase("test|spec & before", rf"\bbefore\s+(?:you\s+)?{_ANY_CHANGE}[^.;,]{{0,40}},\s*(?:please\s+)?run\s+{_TESTS}"),
]
FLAGS = phrase(
    "pass|add|use|includ|give|set",
    rf"{ORDER}(?:pass|add|use|include|give|set)\s+(?P<flag>{NAME})\s+(?:to|with|for|on|"
    r"when(?:ever)? you (?:run|call|use)|"
    rf"when (?:running|calling|using))\s+(?:the\s+)?(?P<name>{NAME})",
)
BY_SCRIPT = phrase(
    "use |do |go through",
    rf"{ORDER}(?:use|do (?:it|this|that|so) (?:with|using|via|through)|"
    r"go through)\s+(?:the\s+)?(?:script\s+|command\s+)?"
    rf"(?P<name>{NAME})",
)
SCRIPTS = ("./", "bin/", "scripts/", "script/", "tools/", "hack/", "make ")
"""How the name of something that can be run begins."""

_NUMBER = r"(?P<number>one|a single|two|three|four|five|ten|twenty|\d+)"
SHORT = [
    phrase(
        "sentence|word|line",
        r"\b(?:answer|reply|respond|explain(?: it)?|summari[sz]e(?: it)?|tell me|say it|put it|"
        r"keep it(?: to)?|describe it)\b"
        rf"[^.;]{0, 30}?\b(?:in|to|with|within)?\s*(?:at most |no more than |just |only |"
        rf"exactly )?{_NUMBER}[ -](?P<unit>sentence|word|line)s?\b",
    ),
    phrase(
        "sentence|word",
        rf"^\W*{_NUMBER} (?P<unit>sentence|word|line)s? (?:will do|is enough|are enough|suffices?|max\w*|"
        r"at most|please|only)\b",
    ),
]
NUMBERS = {"one": 1, "a single": 1, "two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "twenty": 20}
CORRECTION = _compiled(
    r"^\W*(?:not quite|no\s*[,.:;—–-]|wrong|that(?:'s| is) (?:not|wrong)|this (?:is not|isn't)|"
    r"you (?:forgot|missed|ignored|"
    r"didn't|did not)|still (?:not|wrong)|i (?:said|asked for|meant))"
)
CHANGE = _compiled(r"\b(?:make|change|set|use|put|add|remove|rename|fix|move|update|replace|delete|undo|revert)\b")

CHECKS: tuple[tuple[str, frozenset[str], Phrase], ...] = (
    (
        "linter",
        words("lint ruff flake8 eslint pylint clippy golangci rubocop biome pre-commit check vet stylelint standard"),
        phrase("run|execut & lint", rf"{RUN}(?:the |our |your )?(?:linters?|lint(?:ing)?(?: checks?)?)\b"),
    ),
    (
        "type checker",
        words("mypy pyright tsc type pyre flow check sorbet build"),
        phrase("run|execut & type", rf"{RUN}(?:the |our |your )?type[- ]?check(?:er|s|ing)?\b"),
    ),
    (
        "formatter",
        words("fmt format black prettier gofmt rustfmt ruff isort biome yapf pre-commit --fix"),
        phrase("run|execut & format", rf"{RUN}(?:the |our |your )?(?:code )?formatters?\b"),
    ),
)
MAKE = r"(?:write|save|put|create|generate|output|store|export|dump|record|produce|place)"
FILES = [
    phrase(
        "to |in|at |as |called|named",
        rf"{ORDER}{MAKE}\b(?:\s+[^\s.;]+){{0,14}}?\s+(?:to|in|into|at|as|called|named)\s+(?:a\s+|an\s+|"
        rf"the\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+|at\s+)?(?P<name>{NAME})",
    ),
    phrase(
        "creat|write|generat|produc",
        rf"{ORDER}(?:create|write|generate|produce)\s+(?:a\s+|an\s+|"
        r"the\s+)?(?:new\s+)?(?:\w+\s+)?(?:file\s+|script\s+|document\s+|report\s+|"
        rf"module\s+)?(?:called\s+|named\s+|at\s+|in\s+)?(?P<name>{NAME})",
    ),
]
LOOK = (
    r"(?:read(?:ing)?|look(?:ing)? at|(?:hav|tak)(?:e|ing) a (?:\w+ )?look at|check(?:ing)?|"
    r"consult(?:ing)?|review(?:ing)?|go(?:ing)? through|"
    r"stud(?:y|ying)|open(?:ing)?)"
)
READS = [
    phrase(
        "first|before",
        rf"{ORDER}{LOOK}\s+(?:the\s+|our\s+|my\s+)?(?:\w+ (?:in|"
        rf"from)\s+)?(?:file\s+)?(?P<name>{NAME})(?:\s+\w+){{0,3}}?\s*,?\s*(?:first\b|before\b)",
    ),
    phrase(
        "first|before|start|begin|making|editing|coding",
        r"(?:^|[.;:,]\s*|\b(?:please|then)\s+)(?:first|start by|begin by|begin with|start with|"
        r"before (?:you do |doing )?(?:anything|any (?:changes|edits|code)|"
        r"making (?:any )?changes|you (?:start|begin|change anything)|editing|coding|"
        rf"starting))\s*,?\s*(?:please\s+)?{LOOK}\s+(?:the\s+|our\s+)?(?:file\s+)?(?P<name>{NAME})",
    ),
]
BARE = "|".join(sorted((re.escape(program) for program in PROGRAMS if len(program) > 1), key=len, reverse=True))
PROGRAM = rf"(?:{NAME}|(?:{BARE})(?![\w-]))"
INSTEAD = [
    phrase(
        "use & not|instead|rather|over|never",
        rf"(?<!\bi )(?<!\bwe )(?<!\bthey )\buse\s+(?P<good>{PROGRAM})(?:\s+\w+){{0,4}}?\s*,?\s*"
        rf"(?:and\s+)?\(?(?:not|instead of|rather than|over|never)\s+(?P<bad>{PROGRAM})",
    ),
    phrase(
        "use & n't|not |never",
        rf"{NOT}use\s+(?P<bad>{PROGRAM})(?:\s+\w+){{0,3}}?\s*(?:[,;:.—–-]+|\bbut\b|"
        rf"\band\b)\s*(?:please\s+)?use\s+(?P<good>{PROGRAM})",
    ),
    phrase("instead of & use", rf"\binstead of\s+(?P<bad>{PROGRAM})\s*,?\s*(?:please\s+)?use\s+(?P<good>{PROGRAM})"),
]
STOPS = (
    r"(?=\s*(?:$|[.,;:!?)—–-]|(?:and|or|but|yet|until|for|please|because|since|at all|myself|i|"
    r"in this|here|anymore|any more|now|to|as it|as they)\b))"
)
NEVER = (
    rf"(?:(?:^|[.!?:;,(—–\-*•]\s*|\b(?:and|but|so|please|also|ok|okay|just|you|sure|then)\s+){NOT}|"
    r"\bwithout\s+)(?:actually\s+)?"
)
AVOID_TESTS = phrase(
    "run|execut & test|spec",
    rf"{NEVER}(?:run|execute|running|executing|re-?run)\s+(?:any\s+|the\s+|our\s+|all\s+|unit\s+|"
    rf"full\s+|these\s+)*(?:tests?(?: suite)?|specs){STOPS}",
)
AVOID_ALL = phrase(
    "run|execut|use|using & command|anything|shell|terminal",
    rf"{NEVER}(?:run|execute|running|executing|use|using)\s+(?:any\s+)?(?:(?:shell|terminal|"
    rf"bash)\s+)?(?:commands?|anything|the (?:shell|terminal)){STOPS}",
)
AVOID = phrase(
    "run|execut|use|using|call|invok",
    rf"{NEVER}(?:run|execute|use|call|invoke|running|using|"
    rf"calling)\s+(?:the\s+)?(?P<bad>{PROGRAM})(?P<word>\s+(?:tool|command|cli|skill))?{STOPS}",
)
GERUNDS: tuple[tuple[str, str], ...] = (
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
        r"these |further |first |your )*(?:code )?(?:changes?|edits?)|"
        r"writ(?:e|ing) (?:any |the )?code|start(?:ing)? (?:to )?(?:cod|implement|edit)(?:e|ing)?|"
        r"start(?:ing)? (?:work|the implementation)",
    ),
)
ASKED = (
    r"(?:ask(?: me| for (?:my )?(?:permission|confirmation|approval))?|check with me|confirm with me|"
    r"check in with me|get (?:my |explicit )+(?:approval|ok|okay|permission|confirmation|sign-off|"
    r"go-ahead)|wait for (?:my |me to )?(?:\w+)|(?:tell|show) me (?:what|how|a|your|the)\b[^.;]{0,60}|"
    r"run it by me|let me (?:know|see|decide))"
)
_STEMS = {"delete": "delet|remov", "install": "install|add", "commit": "commit", "push": "push",
          "edit": "edit|chang|modif|touch|updat|implement|cod|refactor|mak|writ|start"}  # fmt: skip
ASKS = [
    (what, phrase(f"ask|check|confirm|get|approv|wait|my |explicit & {_STEMS[what]}", pattern))
    for what, gerund in GERUNDS
    for pattern in (
        rf"\b{ASKED}(?:\s+\w+){{0,3}}?\s+before\s+(?:you\s+)?(?:{gerund})\b",
        rf"\bbefore\s+(?:you\s+)?(?:{gerund})\b[^.;]{{0,60}}?,\s*(?:please\s+|always\s+)?{ASKED}\b",
        rf"{NEVER}(?:{gerund})\b[^.;]{{0,60}}?\s(?:without|until you) (?:first )?"
        r"(?:ask|check(?:ing)? with|my |confirm|get|explicit|having ask)",
    )
]
BUG_REPORT = _compiled(
    r"\b(?:(?:steps|how|way|order) to reproduc\w+|to reproduce\b|(?:actual|expected|"
    r"current) (?:result|behaviou?r|output)s?\b)"
)
"""Words of a turn that reports a bug: what it says to run or to create there is how to see the bug."""

CANCELLED = _compiled(
    r"\b(?:never ?mind|no need|skip (?:that|the|it|this)|forget (?:about )?(?:it|that|the|what)|"
    r"don't bother|doesn't matter|ignore (?:that|my|the)|you can (?:stop|skip))\b"
)
