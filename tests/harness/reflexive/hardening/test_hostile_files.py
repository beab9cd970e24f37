"""Whatever a script makes of a file, what is decided from it is an answer and no error of the host."""

from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.harness.reflexive.hardening.access import SHELL, Refusal, refused
from misstep.harness.reflexive.hardening.files import Malformed, UnreadableFile
from misstep.harness.reflexive.hardening.profile import PROFILE
from misstep.harness.reflexive.hardening.rules import rules
from misstep.harness.reflexive.hardening.skill import shipped
from misstep.harness.reflexive.hardening.vital_signs import VITAL_SIGNS, health_faults, reading
from tests.harness.reflexive.hardening.machine import changed

TEXTS = {one.path: one.text for one in shipped() if one.kind == "file" and one.text}
WORDS = sorted({word for text in TEXTS.values() for word in text.replace(":", " : ").split()})
pieces = st.one_of(
    st.sampled_from([*WORDS, "=", "[", "]", "(", ",", "!", "\\", "#", '"', "@include", "::"]), st.text(max_size=4)
)
lines = st.lists(pieces, max_size=6).map(" ".join)


@st.composite
def edits(draw: st.DrawFn) -> dict[str, object]:
    results: dict[str, object] = {}
    for path in draw(st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=3, unique=True)):
        old = TEXTS[path].splitlines()
        at = draw(st.integers(0, len(old)))
        how = draw(st.sampled_from(["put in", "instead", "cut", "anew"]))
        new = draw(st.lists(lines, max_size=3))
        text = {
            "put in": [*old[:at], *new, *old[at:]],
            "instead": [*old[:at], *new, *old[at + 1 :]],
            "cut": ["\n".join(old)[: at * 7]],
            "anew": new,
        }[how]
        results[path] = "\n".join(text).encode("utf-8", "surrogatepass")
    return results


@settings(deadline=None)
@given(edits())
def test_any_files_have_an_answer(changes: dict[str, object]) -> None:
    files = changed(changes)
    assert isinstance(refused(files, SHELL), Refusal | None)
    assert all(isinstance(fault, str) for fault in health_faults(files))
    assert all(reading(files, sign).text is not None for sign in VITAL_SIGNS)
    for rule in rules():
        try:
            assert isinstance(rule.fault(files), str)
            rule.waits(files)
        except (UnreadableFile, Malformed):
            assert PROFILE in changes
