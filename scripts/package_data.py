"""Put the data and the notebooks into a wheel; an installation of a checkout reads them where they are."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackageData(BuildHookInterface):  # type: ignore[type-arg]
    """Hatch calls it before each build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folders, except for an editable installation."""
        if version != "editable":
            build_data["force_include"] |= {"data": "misstep/_data", "notebooks": "misstep/_notebooks"}
