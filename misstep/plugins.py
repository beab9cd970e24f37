"""`misstep plugins`: the readers, rules, judges and other parts that installed packages add."""

import typer

from misstep.analysis.tables.text import aligned
from misstep.harness.escaping import plain
from misstep.harness.runs.plugins import Plugin, installed_plugins
from misstep.options.common import Json, command_app, json_text

app = command_app()


@app.command()
def plugins(json: Json = False) -> None:
    """List the readers, rules, judges and other parts that installed packages add to Misstep.

    Each is loaded to see whether it can be used. The exit code is 1 if one cannot.
    """
    plugins = installed_plugins()
    print(json_text({"plugins": plugins}) if json else _text(plugins))
    if any(one.error is not None for one in plugins):
        raise typer.Exit(1)


def _text(plugins: list[Plugin]) -> str:
    if not plugins:
        by = "A package does by entry points, such as those in the group misstep.readers."
        return f"No installed package adds to Misstep. {by}"
    rows: list[tuple[str, ...]] = [("kind", "name", "package", "from", "usable")]
    for one in plugins:
        texts = map(plain, (one.kind, one.name, f"{one.package} {one.version}", one.target))
        rows.append((*texts, "no" if one.error else "yes"))
    lines = aligned(rows, to_left=range(len(rows[0])))
    broken = [one for one in plugins if one.error is not None]
    if broken:
        lines += ["", "What cannot be used:"]
        lines += [f"- {plain(one.name)} of {plain(one.package)}: {plain(str(one.error))}" for one in broken]
    return "\n".join(lines)
