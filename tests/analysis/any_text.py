"""Tables with any text in every field, for the rules that hold whatever a label says."""

from hypothesis import strategies as st

from misstep_analysis.tables import WORST_FIRST, Row, Table

AWKWARD = r"\&%$#_{}~^<>|\"'`[]*-!?,;:.()+=@/ abz09äéłßÅκλΣ−–—…≥×∞→“”✓中🙂é" + "\u202e\x1b\x00\n\r\t\u2028"

words = st.text(st.sampled_from(AWKWARD) | st.characters(exclude_categories=["Cs"]), max_size=24)
numbers = st.none() | st.floats(-1, 1)
rows = st.builds(
    Row,
    quantity=words,
    value=numbers | words,
    low=numbers,
    high=numbers,
    n=st.none() | st.integers(0, 10**6),
    evidence=st.sampled_from(["published", "recomputed", "generated", "real"]),
    source=words,
    status=st.none() | st.sampled_from(WORST_FIRST),
    reason=words,
    unit=st.sampled_from(["share", "count", "text"]),
    printed=st.none() | words,
    method=words,
    group=st.sampled_from(["", "|", r"\\", "a group"]) | words,
)
tables = st.builds(
    Table,
    name=words,
    paper=words,
    title=words,
    finding=words,
    rows=st.lists(rows, max_size=4).map(tuple),
    notes=st.lists(words, max_size=2).map(tuple),
)
