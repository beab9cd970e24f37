"""How users word limits on what may change: the patterns by which `constraints` finds them in a sentence.

Each pattern is over a sentence whose names are taken out (see `prose`); where it has the groups, `list` is what is
meant and `verbs` what may not be done to it.
"""

import re
from typing import Literal

from harness.classifiers.prose import NAME, Phrase, anywhere, phrase
from harness.classifiers.targets import RECORD
from harness.classifiers.wording import BEGIN, CREATE, EDIT, FOLLOWS, LIST, NOT, ORDER, OTHERS

CONDITION = anywhere(
    r"\b(?:unless|if (?!(?:you|i) (?:do|can)?\b.*\?)|except when|where possible|if possible|as long as|provided)\b"
)
OPENS_WITH_CONDITION = re.compile(r"\s*(?:unless|if|except when|as long as|provided)\b", re.IGNORECASE)
ASKING = anywhere(
    r"\b(?:without (?:first )?(?:asking|checking|my|telling|confirm|permission|approval|consulting|explicit)|"
    r"(?:until|before) (?:i|we|you (?:have |'ve )?(?:ask|check|confirm|got))|until (?:after )?(?:i|we)\b)"
)
EXCEPT = (
    r"(?:outside(?: of)?|except(?: for| in)?|other than|besides|apart from|aside from|but|beyond|"
    rf"that (?:is|are)(?: not|n't) (?:in|part of))\s+(?P<list>{LIST})"
)


CHANGE_WORDS = (
    "chang", "modif", "edit", "touch", "alter", "updat", "rewrit", "refactor", "reformat", "overwrit", "mess",
    "fiddl", "adjust", "tweak", "writ", "delet", "remov", "renam", "mov", "eras", "wip", "creat", "add", "introduc",
    "generat", "leave", "keep", "stay", "hands", "off", "fix", "code", "file", "work", "implement", "frozen",
    "install", "commit", "push", "read-only", "read only", "plan", "explain", "describ", "analy", "summar",
    "answer", "tell me", "outlin", "diagnos", "report", "investigat", "give me", "depend", "packag", "librar",
    "make", "making", "start", "nothing", "#", "review", "limit", "restrict", "confin", "within", "stick",
)  # fmt: skip
"""Pieces of words of which every sentence has one that limits changes."""


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_CHANGES = r"(?:changes?|edits?|modifications?)"
ONLY = [
    phrase(
        "only",
        rf"{BEGIN}(?:i (?:only )?want you to |you (?:may|can|should|must|are allowed to) |"
        rf"are (?:only )?allowed to )?only\s+(?:{EDIT}|fix|work (?:on|in)|"
        rf"make {_CHANGES} (?:to|in)|{CREATE})\s+(?P<list>{LIST}){FOLLOWS}",
    ),
    phrase(
        "only",
        rf"{BEGIN}(?:{EDIT}|fix|make (?:\w+ )?{_CHANGES} (?:to|in)?)\s*only\s+(?:in\s+|"
        rf"to\s+)?(?P<list>{LIST}){FOLLOWS}",
    ),
    phrase(
        "only|nothing else",
        rf"{BEGIN}(?:{EDIT}|fix)\s+(?P<list>{LIST})\s*,?\s*(?:only(?=\s*(?:$|[.,;!)]))|and nothing else)",
    ),
    phrase(
        "only & in |to ",
        rf"{BEGIN}(?:{EDIT}|fix|add|implement|make|do|apply)\s[^.;]{{0,80}}?\s(?:in|"
        rf"to)\s+(?P<list>{LIST})\s+only(?=\s*(?:$|[.,;!)]))",
    ),
    phrase(
        "only",
        rf"{BEGIN}only\s+(?:{EDIT}|fix)\s+(?:[\w'-]+\s+|{NAME}\s+){{1,8}}?(?:in|of|inside|within|"
        rf"from)\s+(?P<list>{LIST}){FOLLOWS}",
    ),
    phrase(
        "restrict|limit|confine|keep|scope|constrain",
        r"\b(?:restrict|limit|confine|keep|scope|constrain)\s+(?:yourself|(?:(?:all|your|the|any|these|"
        rf"this)\s+)*(?:{_CHANGES}|work|scope|fix|refactoring|"
        rf"diff|patch))\s+(?:strictly |only )?(?:to|within|in|inside)\s+(?P<list>{LIST}){FOLLOWS}",
    ),
    phrase(
        "only|limited|restricted|confined|within|inside|stay",
        rf"\b(?:{_CHANGES}|fix|work|diff|patch)\s+(?:(?:must|should|may|can|to|"
        r"have to)\s+)?(?:be\s+)?(?:strictly\s+)?(?:limited to|restricted to|confined to|only (?:in|to|"
        r"within|inside)|"
        rf"(?:be )?made only (?:in|to)|stay (?:in|within|inside))\s+(?P<list>{LIST}){FOLLOWS}",
    ),
    phrase(
        "within|inside|only|exclusively",
        rf"{BEGIN}(?:work|stay|operate|stick|make (?:your )?{_CHANGES})\s+(?:strictly |only |"
        r"exclusively )*(?:inside|within|only in|only on|exclusively in|to only)\s+"
        rf"(?P<list>{LIST}){FOLLOWS}",
    ),
    phrase(
        "n't|not |never|avoid|without|refrain|dont  & outside|except|other than|besides|apart|aside|but |beyond|that ",
        rf"{BEGIN}(?:{NOT}|without )(?:{EDIT}|{CREATE})\s+(?:any(?:thing)?(?: files?| code| other files?)?|"
        rf"(?:other |any )?files?|(?:other )?code|{OTHERS})\s+{EXCEPT}{FOLLOWS}",
    ),
    phrase(
        "no & outside",
        rf"{BEGIN}no {_CHANGES}\s+(?:to (?:any |other )*files? |"
        rf"are allowed )?outside(?: of)?\s+(?P<list>{LIST}){FOLLOWS}",
    ),
    phrase(
        "the only",
        rf"(?P<list>{LIST})\s+(?:is|are) the only (?:files?|places?|modules?|folders?|thing|"
        r"ones?) (?:that )?(?:you|to be|to|which|should|may)\b",
    ),
    phrase(
        "nothing & but|except|outside|other than|besides|apart",
        rf"{BEGIN}(?:{EDIT}|{CREATE})\s+nothing\s+{EXCEPT}{FOLLOWS}",
    ),
    phrase(
        "the only",
        r"\bthe only (?:files?|places?|modules?|folders?|thing)s? (?:that )?you (?:may|can|should|"
        rf"are allowed to|need to|must) (?:{EDIT}) (?:is|are)\s+(?P<list>{LIST}){FOLLOWS}",
    ),
    phrase(
        "only & may|should|must|can|need|allowed|to ",
        rf"{BEGIN}only\s+(?P<list>{LIST})\s+(?:may|should|must|can|needs? to|is allowed to|are allowed to|"
        r"is to|are to) (?:be )?(?:change|edit|modif|touch|update)",
    ),
]
ONLY_RECORD = phrase(
    "only", rf"{BEGIN}only\s+(?!{NAME})\w+\s+[^.;:]{{0,60}}?(?P<list>{RECORD}(?:\s*(?:,|and|or)\s*{RECORD})*)"
)
"""An order about one record of a service: `Only cancel #W11024.`"""

ALL_OTHERS = [
    phrase(
        "n't|not |never|avoid|without|refrain|dont  & else|other|rest",
        rf"{BEGIN}(?:{NOT}|without )(?:{EDIT})\s+(?:{OTHERS}){FOLLOWS}",
    ),
    phrase(
        "leave|keep & else|other|rest",
        rf"{BEGIN}(?:leave|keep)\s+(?:{OTHERS})\s+(?:alone|untouched|unchanged|as[ -]is|as (?:it|"
        r"they) (?:is|are)|intact|the same)",
    ),
    phrase(
        "no other|nothing else",
        r"\b(?:no other files?|nothing else|no other code)\s+(?:(?:should|must|may|needs? to|is to|are to|"
        r"can) )?(?:be )?(?:change|edit|modif|touch|update)",
    ),
    phrase("nothing else", rf"{BEGIN}(?:{EDIT}|fix)\s+[^.;]{{0,120}}?\band nothing else\b"),
]
BANS = [
    phrase(
        "n't|not |never|avoid|without|refrain|dont ",
        rf"{BEGIN}{NOT}(?P<verbs>{EDIT}|{CREATE})(?::\s*|\s+)(?P<list>{LIST}){FOLLOWS}",
    ),
    phrase("without", rf"\bwithout (?P<verbs>{EDIT}|{CREATE})\s+(?P<list>{LIST}){FOLLOWS}"),
    phrase(
        "leave",
        rf"{BEGIN}(?P<verbs>leave)\s+(?P<list>{LIST})\s+(?:alone|untouched|unchanged|as[ -]is|as (?:it|"
        r"they) (?:is|are)|intact|out of (?:it|this))",
    ),
    phrase(
        "keep",
        rf"{BEGIN}(?P<verbs>keep)\s+(?P<list>{LIST})\s+(?:untouched|unchanged|as[ -]is|as (?:it|"
        r"they) (?:is|are)|intact|exactly as)",
    ),
    phrase("stay", rf"{BEGIN}(?P<verbs>stay) (?:away from|out of)\s+(?P<list>{LIST}){FOLLOWS}"),
    phrase("hands off", rf"{BEGIN}(?P<verbs>hands) off (?:of )?(?P<list>{LIST}){FOLLOWS}"),
    phrase("no ", rf"{BEGIN}(?P<verbs>no) {_CHANGES}\s+(?:to|in)\s+(?P<list>{LIST}){FOLLOWS}"),
    phrase(
        "not|n't & be ",
        rf"{BEGIN}(?P<list>{LIST})\s+(?:must|should|may|can)(?: ?not|n't)\s+be\s+(?P<verbs>changed|"
        r"modified|edited|touched|altered|deleted|removed|updated|renamed)",
    ),
    phrase(
        "off|frozen|not to be",
        rf"{BEGIN}(?P<list>{LIST})\s+(?:is|are)\s+(?P<verbs>off[- ]limits|frozen|not to be (?:changed|"
        r"modified|edited|touched))",
    ),
    phrase(
        "unchanged|untouched|as|alone|intact & stay|remain|left|kept",
        rf"{BEGIN}(?P<list>{LIST})\s+(?:must|should|has to|have to|needs? to)\s+(?P<verbs>stay|remain|"
        r"be left|be kept)\s+(?:unchanged|untouched|as|alone|intact)",
    ),
]
_CHANGED = r"(?:changed|modified|edited|touched|altered|updated|rewritten|deleted|removed|renamed|adapted|adjusted)"
PERMITTED = [
    phrase(
        "may|can|could|should|must & be ",
        rf"(?<![\w-])(?P<list>{LIST})\s+(?:may|can|could|should|must)\s+(?:now\s+|also\s+)*be\s+{_CHANGED}",
    ),
    phrase(
        "is |are ",
        rf"(?<![\w-])(?P<list>{LIST})\s+(?:is|are)\s+(?:now\s+|also\s+)*(?:(?:fine|okay|ok|free|allowed|open)"
        rf"(?:\s+to\s+(?:be\s+)?(?:{EDIT}|{_CHANGED})|\s+again|\s+now)|fair game)\b",
    ),
    phrase(
        "lifted|gone|off|over|withdrawn",
        r"\b(?:bans?|rules?|limits?|restrictions?|constraints?|freeze) (?:on|about|for|against|of) (?:changing |"
        rf"touching |editing )?(?P<list>{LIST})\s+(?:is|are) (?:now )?(?:lifted|gone|off|over|withdrawn)\b",
    ),
    phrase("go ahead with", rf"\bgo ahead with\s+(?P<list>{LIST}){FOLLOWS}"),
]
"""What takes a ban back by naming what it was on."""

_CODE = r"(?:any |the |actual |more |new |real )*(?:code|changes?|edits?|modifications?|files?|anything)"
READ_ONLY = [
    phrase(
        "n't|not |never|avoid|without|refrain|dont  & chang|edit|modif|cod|file|anything",
        rf"{BEGIN}{NOT}(?:make|do|apply|perform|write|produce|implement|start|generate|propose|"
        rf"commit to)\s+{_CODE}(?:\s+changes?| edits?)?"
        r"(?:\s+(?:yet|now|for now|at this (?:point|stage)|to (?:the )?(?:code|files?|repo\w*|codebase|"
        r"anything)|please|just yet|at all))*(?=\s*(?:$|[.,;:!?)—–-]|just|only|and|but|i |until|before|"
        r"so))",
    ),
    phrase(
        "n't|not |never|avoid|without|refrain|dont  & fix|implement",
        rf"{BEGIN}{NOT}(?:fix|implement)\s+(?:it|this|that|anything)(?:\s+(?:yet|now|for now|"
        r"just yet))?(?=\s*(?:$|[.,;:!?)—–-]|just|only|and|but|until|so))",
    ),
    phrase(
        "no & chang|edit|modif|cod",
        rf"{BEGIN}no (?:code |file )?(?:{_CHANGES}|coding|code)(?:\s+(?:yet|for now|please|now|at all|"
        r"whatsoever|just \w+))?(?=\s*(?:$|[.,;:!)—–-]))",
    ),
    phrase(
        "without & making|writing|applying|doing",
        rf"{BEGIN}(?:without)\s+(?:making|writing|applying|doing)\s+{_CODE}(?:\s+to (?:the )?(?:code|"
        r"files?|repo\w*|codebase))?(?=\s*(?:$|[.,;:!)—–-]))",
    ),
    phrase(
        "just|only & explain|descri|analy|summar|answer|tell|outline|diagnose|report|investigat|give",
        rf"{BEGIN}(?:just|only)\s+(?:explain|describe|analy[sz]e|summari[sz]e|answer|tell me|outline|"
        r"diagnose|report|investigate|give me (?:a|the|an|your) "
        r"(?:plan|explanation|summary|overview|answer|list|opinion|analysis|review))\b(?![^.]*\b(?:and|"
        r"then) (?:fix|implement|change|update|apply|edit|add)\b)",
    ),
    phrase(
        "read-only|read only",
        r"\b(?:stay|remain|work|keep (?:it|this|everything)|this is(?: a| an)?(?: strictly)?|strictly|"
        r"operate|treat \w+ as|i want (?:a|an|this)?)\s*(?:in |a |an |strictly )*read[- ]only\b"
        r"(?! (?:file|property|field|attribute|filesystem|mode is|replica|user|access))",
    ),
    phrase(
        "-only| only",
        r"\b(?:plan(?:ning)?|analysis|explanation|review|investigation|question|"
        r"read)[- ]only\b(?! (?:file|property|field|attribute|replica))(?=\s*(?:$|[.,;:!)—–-]|mode|please|"
        r"task|no ))",
    ),
    phrase(
        "nothing",
        rf"{BEGIN}(?:please\s+)?(?:{EDIT})\s+nothing(?:\s+(?:yet|for now|now|at all|here))*(?=\s*(?:$|[.,;:!)—–-]))",
    ),
    phrase("plan mode", r"\b(?:stay|remain|work|we are|we're|you are|you're) in plan mode\b|^plan mode\b"),
]
NEW_FILES = phrase(
    "file|script|document|module & new|separate|temporary|helper|scratch|unnecessary|additional|extra|throwaway",
    rf"(?:{BEGIN}{NOT}(?:{CREATE}|leave|make)|\bwithout (?:{CREATE}|making)|{BEGIN}no)\s+(?:any |a |"
    r"an |some |additional |extra |other |more )*"
    r"(?:(?P<new>new|separate|temporary|helper|scratch|unnecessary|additional|extra|"
    r"throwaway)\s+)+(?P<sort>test |markdown |md |doc |documentation |config )?(?:files?|scripts?|"
    r"documents?|modules?)\b",
)
COMMANDS: list[tuple[Literal["install", "commit", "push"], Phrase]] = [
    (
        "install",
        phrase(
            "install|add|introduc|upgrad|pull in|no",
            rf"(?:{BEGIN}{NOT}(?:install|add|introduce|upgrade|pull in)|\bwithout (?:installing|adding|"
            rf"introducing)|{BEGIN}no)\s+(?:any |a |new |extra |additional |other |third[- ]party |"
            r"external |more |further )*(?:(?:packages?|dependenc(?:y|ies)|librar(?:y|ies)|requirements?)\b|"
            r"(?<=install )anything\b|(?<=installing )anything\b|(?<=install )(?:any)?thing new)",
        ),
    ),
    (
        "commit",
        phrase(
            "commit",
            rf"(?:{BEGIN}{NOT}(?:make |create |do )?(?:a |any )?(?:git )?commit(?:s|ting)?\b|"
            rf"\bwithout (?:making (?:a |any )?)?commit(?:s|ting)\b|{BEGIN}no (?:git )?commits?\b|"
            r"\bleave (?:it|this|everything) uncommitted\b)(?! (?:to (?:an?|one) |"
            r"suicide|message))",
        ),
    ),
    (
        "push",
        phrase(
            "push",
            rf"(?:{BEGIN}{NOT}(?:[\w ]{{0,20}}\b(?:or|and|nor) )?(?:git |force[- ])?push(?:ing)?\b|"
            rf"\bwithout pushing\b|{BEGIN}no (?:git )?push(?:es|ing)?\b|"
            rf"{BEGIN}commit[\w ,]{{0,30}}(?:do not|don't|no) push)(?! (?:back|users?|"
            r"notif))",
        ),
    ),
]

APPROVAL = _compiled(
    r"^\W*(?:yes|yep|yeah|sure|ok(?:ay)?|great|perfect|lgtm|looks good|sounds good|approved?|"
    r"confirmed|go ahead|proceed|do it|go for it|ship it)\b"
    r"|\b(?:go ahead|please proceed|proceed with|you (?:may|can) (?:now )?(?:proceed|start|begin|"
    r"continue)|make the changes?|apply (?:it|the|this|that)|implement (?:it|this|that|the)|"
    r"do it now)\b"
)
LIFTED = _compiled(
    r"\b(?:never ?mind|forget (?:what|about|the|that|my)|ignore (?:my|the|that|what) (?:earlier|"
    r"previous|last|rule|restriction|constraint|i said)|no longer|"
    r"(?:restriction|constraint|rule|limit)s? (?:is|are) (?:lifted|gone|off))\b"
)
WIDE = _compiled(
    r"\b(?:everywhere|across (?:the|all|our|my)|all (?:the )?(?:other )?(?:files|usages|callers|"
    r"references|places|modules|occurrences|call sites)|wherever|"
    r"(?:any|other|whatever|whichever) (?:other )?files?(?: too| as well| you)|whatever (?:is|you|it)|"
    r"as needed|rest of the (?:code|repo|project)|whole (?:code ?base|repo|project))\b"
)
OPENING = _compiled(
    r"^\W*(?:please|can you|could you|now|try|get|solve|resolve|speed|optimi[sz]e|simplify|find|debug|help|port|"
    r"upgrade|build|i want|i need|i'd like|do (?:this|it|that))\b"
)
ORDERS = anywhere(ORDER)
NEGATED = anywhere(rf"{BEGIN}{NOT}|\bwithout\b|\bhow to\b")

LIMIT_WORDS = (
    "just", "only", "n't", "not ", "never", "avoid", "without", "refrain", "dont ", "limit", "restrict", "confine",
    "keep", "scope", "constrain", "within", "inside", "outside", "leave", "stay", "hands off", "no ",
    "frozen", "off-limits", "off limits", "remain", "be left", "plan mode", "nothing", "exclusively",
)  # fmt: skip
"""Pieces of words of which every turn has one that limits changes."""
