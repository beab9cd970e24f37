"""Two lessons are one where they say the same, and two where a single word makes the difference."""

import pytest

from misstep_harness.reflexive.memory import same_content, topic_words

SAME = {
    "the same": ("Mask the unit, then stop it.", "Mask the unit, then stop it."),
    "small words, letters and signs": ("Mask the unit and then stop it", "MASK unit - then: stop it!"),
    "plurals": ("Reload the services after edits of drop-in files.", "Reload the service after edit of drop-in file."),
    "a word more in ten": (
        "Write the rule into a drop-in below sshd_config.d and reload sshd, which keeps sessions.",
        "Write the rule into a drop-in below sshd_config.d and reload sshd gently, which keeps sessions.",
    ),
}

UNLIKE = {
    "alike for eighty characters": (
        "Before you change anything in the directory of the drop-ins of the service, make a copy with cp.",
        "Before you change anything in the directory of the drop-ins of the service, ask visudo.",
    ),
    "a denial": ("Restart sshd when the file is in place.", "Never restart sshd when the file is in place."),
    "a value": (
        "Set PermitRootLogin to no and reload the sshd service.",
        "Set PermitRootLogin to yes and reload the sshd service.",
    ),
    "a number": ("Give the shadow file mode 600 by chmod.", "Give the shadow file mode 640 by chmod."),
    "a number more": (
        "Give the long shadow file its mode by chmod.",
        "Give the long shadow file its mode 640 by chmod.",
    ),
    "another order": ("Enable auditd and disable cron.", "Disable auditd and enable cron."),
    "before and after": ("Load the rules before you lock them.", "Load the rules after you lock them."),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_same_in_other_words_is_the_same(one: str, other: str) -> None:
    assert same_content(one, other)
    assert same_content(other, one)


@pytest.mark.parametrize(("one", "other"), UNLIKE.values(), ids=UNLIKE)
def test_what_tells_something_else_is_another(one: str, other: str) -> None:
    assert not same_content(one, other)
    assert not same_content(other, one)


def test_names_are_found_by_their_parts() -> None:
    assert {"permit", "root", "login"} <= topic_words("PermitRootLogin") & topic_words("permit root logins")
