"""What a person sees on a terminal is safe to print."""

from misstep.harness.escaping import plain


def test_text_from_outside_loses_its_control_codes_and_stays_on_one_line() -> None:
    assert plain("\x1b[31mred\x1b[0m\nnext\tcell\x07") == "red next cell"


def test_what_a_terminal_cannot_encode_or_would_turn_around_is_shown_instead() -> None:
    assert plain("a\ud800b").encode()
    assert plain("safe\u202egnp.exe") == "safe⟨U+202E⟩gnp.exe"
