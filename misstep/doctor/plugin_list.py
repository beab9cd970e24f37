"""What installed packages add, as lines for a terminal."""

from collections.abc import Sequence

from misstep.doctor.plugins import Plugin
from misstep_analysis.tables.text import aligned
from misstep_harness.escaping import plain


def plugin_lines(plugins: Sequence[Plugin]) -> list[str]:
    """List what installed packages add, and why a part of it cannot be used."""
    if not plugins:
        return []
    rows = [
        ("no" if one.error else "yes", one.kind, one.name, f"{one.package} {one.version}", one.target)
        for one in plugins
    ]
    broken = [one for one in plugins if one.error is not None]
    return [
        "",
        "Plug-ins:",
        *aligned([tuple(map(plain, row)) for row in rows], to_left=range(5)),
        *(f"- {plain(one.name)} of {plain(one.package)} cannot be used: {plain(str(one.error))}" for one in broken),
    ]
