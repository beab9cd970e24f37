"""How users word what may be changed and what not: pieces of patterns over sentences whose names are taken out.

A sentence is the user's own, in small or capital letters, with each name a mark (see `prose`). `LIST` matches what can
be named in a row ("the tests, `a.py` or anything under src/"); `targets_in` turns such a match into targets.
"""

import re

from harness.classifiers.prose import NAME, Sentence
from harness.classifiers.targets import EVERYTHING, Target

_FILE_WORDS = r"(?:files?|folders?|director(?:y|ies)|dirs?|modules?|scripts?|packages?|components?|subtree)"
_CATEGORIES: tuple[tuple[str, str], ...] = (
    (
        "tests",
        r"(?:(?:unit|integration|e2e|end-to-end|regression|failing|automated)[ -])*(?:tests?(?: (?:files?|"
        r"cases?|suites?|code|folder|"
        r"directory|modules?))?|specs?(?: files?)?)(?![\w-]| (?:data|output|results?|names?|runner|"
        r"command|config))",
    ),
    ("ci", r"ci (?:config(?:uration)?|pipelines?|files?|workflows?|setup)\b|workflow files\b"),
    ("config", r"(?:project |build )?(?:config(?:uration)?s?|settings)(?: files?)?\b"),
    ("locks", r"lock ?files?\b"),
    ("dependencies", r"(?:dependenc(?:y|ies)|requirements)(?: files?| versions?)?\b"),
    ("migrations", r"(?:database |db |existing )?migrations?(?: files?)?\b"),
    ("styles", r"(?:style ?sheets?|styles|css)(?: files?)?\b"),
    ("readme", r"readme(?: file)?\b"),
    ("markdown", r"markdown files?\b"),
    ("docs", r"(?:docs|documentation)(?: files?| folder)?\b"),
    ("fixtures", r"(?:test )?(?:fixtures|snapshots)(?: files?)?\b"),
    ("source", r"(?:source|production|implementation|application|non-tests?)(?: code| files?)+\b|implementation\b"),
    (".py", r"python (?:files?|code)\b"),
    (".js", r"javascript (?:files?|code)\b"),
    (".ts", r"typescript (?:files?|code)\b"),
    (".html", r"html (?:files?|templates?)\b"),
    (".json", r"json files?\b"),
    (".sql", r"sql files?\b"),
    (".yaml", r"yaml files?\b"),
    (".go", r"go files?\b"),
    (".rs", r"rust files?\b"),
)
_ALL = (
    r"anything(?! (?:else|other|in|inside|under|within|outside|but))|any (?:code|files?)|(?:the |my |"
    r"our |existing |any )*(?:code ?base|repo(?:sitory)?|project|"
    r"code|files?)|a (?:single )?(?:thing|line(?: of code)?|file)|everything(?! (?:else|in|under|inside))"
)
OTHERS = (
    r"(?:anything|everything|nothing|something) else(?: (?:in|within) (?:the |this |my |"
    r"our )?(?:\w+))?|(?:any |all |the )*other (?:files?|code|modules?|parts?|things?|folders?|stuff)"
    r"(?: of the \w+)?|the (?:rest|others?)(?: of (?:the |my |our )?(?:\w+))?|(?:any|anything) other"
)
_DETERMINERS = (
    r"(?:(?:the|any|all|either|both|existing|current|my|our|your|these|this|that|those|of|actual|"
    r"entire|whole|a|an|some|single|"
    r"generated|unrelated|legacy|shared)\s+)*"
)
_INSIDE = (
    r"(?:(?:files?|code|contents?|anything|everything|stuff|things?|modules?)\s+(?:(?:that|"
    r"which) (?:is|are|lives?) |located )?"
    r"(?:in|inside|under|within|below|of|from)\s+)?"
)
_CORE = (
    rf"{NAME}|"
    + "|".join(f"(?:{pattern})" for _, pattern in _CATEGORIES)
    + rf"|[a-z][\w-]* (?:folder|directory|dir|package)\b|{_ALL}"
)
_AFTER = rf"(?:\s+{_FILE_WORDS}|\s+itself)?"
TARGET = rf"{_DETERMINERS}{_INSIDE}{_DETERMINERS}(?:{_FILE_WORDS}\s+)?(?:{_CORE}){_AFTER}"
LIST = rf"{TARGET}(?:\s*(?:,\s*(?:and |or |nor )?|\band\b|\bor\b|\bnor\b|&|/|\+)\s*(?:in |to |under )?{TARGET})*"

FOLLOWS = (
    r"(?=\s*(?:$|[.,;:!?)\]—–(-]|(?:and|or|but|so|because|since|as|while|when|at|for|yet|please|"
    r"either|anymore|any|again|under|in|"
    r"during|until|till|if|unless|except|other|outside|besides|apart|aside|beyond|without|only|to|"
    r"just|though|this|right|now|"
    r"whatsoever|directly|by|with|they|it|is|are|that|which|from|before|after|then|too|also|here|"
    r"there|itself|themselves)\b))"
)
"""What may follow the end of a list: a bare noun may not (`config.py behaviour` is no file)."""

BEGIN = (
    r"(?:^|[.!?:;,(—–\-*•]\s*|\b(?:and|but|so|then|please|also|just|however|though|although|instead|"
    r"ok|okay|again|remember|"
    r"note|careful|carefully|you|sure|actually|while|or|yet|that you|to|now|still|thanks|"
    r"important)\s+)(?:\d+[.)]\s*)?"
)
"""Where an order can begin; a verb after another subject (`it does not change …`) is a description."""

NOT = (
    r"(?:please\s+)?(?:do not|don't|dont|never|avoid|refrain from|must not|mustn't|should not|"
    r"shouldn't|may not|cannot|can not|can't|"
    r"are not (?:allowed )?to|aren't (?:allowed )?to|i don't want you to|i do not want you to|"
    r"want you not to|not)\s+(?:(?:ever|even|actually|otherwise|under any "
    r"circumstances|in any way|go and|start|try to|attempt to|be|directly|accidentally|please)\s+)*"
)
_EDITS = (
    r"chang(?:e|ing)|modify(?:ing)?|edit(?:ing)?|touch(?:ing)?|alter(?:ing)?|updat(?:e|ing)|"
    r"rewrit(?:e|ing)|refactor(?:ing)?|"
    r"reformat(?:ting)?|overwrit(?:e|ing)|mess(?:ing)? with|fiddl(?:e|ing) with|adjust(?:ing)?|"
    r"tweak(?:ing)?|writ(?:e|ing) to|"
    r"mak(?:e|ing) (?:any |further |other |additional |more |unrelated |code )*(?:changes?|edits?|"
    r"modifications?) (?:to|in|on)"
)
_DELETES = r"delet(?:e|ing)|remov(?:e|ing)|renam(?:e|ing)|mov(?:e|ing)|eras(?:e|ing)|wip(?:e|ing)"
_CREATES = r"creat(?:e|ing)|add(?:ing)?(?: to)?|writ(?:e|ing)|introduc(?:e|ing)|generat(?:e|ing)"
_JOIN = r"\s*(?:,|/|\bor\b|\band\b|\bnor\b)\s*(?:or |and )?"
EDIT = rf"(?:{_EDITS}|{_DELETES})(?:{_JOIN}(?:{_EDITS}|{_DELETES}|{_CREATES}))*"
CREATE = rf"(?:{_CREATES})(?:{_JOIN}(?:{_EDITS}|{_DELETES}|{_CREATES}))*"
_EDITS_ONLY = re.compile(rf"\b(?:{_EDITS})\b", re.IGNORECASE)
_CREATES_ONLY = re.compile(rf"\b(?:{_CREATES}|touch(?:ing)?)\b", re.IGNORECASE)

DO = (
    r"(?:fix|add|implement|update|change|edit|modify|refactor|rename|create|write|rewrite|remove|"
    r"delete|move|replace|improve|extend|"
    r"convert|migrate|document|put|save|make|clean|adjust|bump|touch|extract|split|apply|generate|"
    r"correct|insert|append|"
    r"do the same (?:for|in|to|with)|include)"
)
ORDER = (
    rf"(?:{BEGIN}|\b(?:can|could|would|will) you\s+(?:please\s+|also\s+|now\s+)*|(?:want|like|need|"
    r"ask) you to\s+|let's\s+|feel free to\s+|"
    r"(?:can|may|should|must|could|to) (?:now |also )*|go ahead and\s+)(?:now\s+|also\s+|please\s+|"
    rf"next\s+)*(?P<do>{DO})\b"
)

_one = re.compile(
    rf"(?P<name>{NAME})(?P<word>\s+{_FILE_WORDS})?|(?P<folder>[a-z][\w-]*) (?:folder|directory|dir|package)\b",
    re.IGNORECASE,
)
_categories = [(value, re.compile(rf"\b(?:{pattern})", re.IGNORECASE)) for value, pattern in _CATEGORIES]
_everything = re.compile(rf"\b(?:{_ALL})", re.IGNORECASE)
_folder_word = re.compile(r"(?:folder|directory|dir|module|package|component|script|file)s?\s*$", re.IGNORECASE)
_pathlike = re.compile(
    r"[/*]|\.\w{1,10}$|^(?:Makefile|Dockerfile|Gemfile|Procfile|Jenkinsfile|LICENSE|README|CHANGELOG|"
    r"CONTRIBUTING|\.\w+)$"
)
_spaced = re.compile(r"\s")


def as_path(name: str) -> Target | None:
    """The target that a name points at; `None` for a name that is no path (a function, a command)."""
    name = name.strip().removeprefix("@")
    if not name or _spaced.search(name) or not _pathlike.search(name) or name.endswith(")") or "=" in name:
        return None
    return Target("folder" if name.endswith("/") else "path", name)


def targets_in(text: str, sentence: Sentence) -> list[Target]:
    """The targets that a piece of a sentence names; nothing where one of its names is no file."""
    found: list[Target] = []
    rest = text
    for match in _one.finditer(text):
        if match["folder"]:
            found.append(Target("folder", match["folder"]))
        else:
            name = sentence.name(match["name"])
            target = as_path(name)
            if target is None:
                if not (match["word"] or _folder_word.search(text[: match.start()])) or _spaced.search(name):
                    return []
                target = Target("path", name)
            found.append(target)
        rest = rest.replace(match.group(), " ", 1)
    for value, pattern in _categories:
        if pattern.search(rest):
            found.append(Target("category", value))
            rest = pattern.sub(" ", rest)
    if not found and _everything.search(rest):
        found.append(EVERYTHING)
    return found


def bans_edits(verbs: str) -> bool:
    """Whether among the verbs of a ban there is one for changing what is there."""
    return _EDITS_ONLY.search(verbs) is not None


def bans_creation(verbs: str) -> bool:
    """Whether among the verbs of a ban there is one for making something new; not to touch a folder means that too."""
    return _CREATES_ONLY.search(verbs) is not None
