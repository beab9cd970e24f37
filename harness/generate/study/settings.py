"""The settings of a generated study, as `settings.toml` has them: rates, weeks, versions, spare tools."""

from datetime import date
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct


class Hard(Struct, frozen=True, forbid_unknown_fields=True):
    """The share of sessions that are hard, and how many times as likely a misbehaviour is there."""

    share: float
    times: float

    @property
    def otherwise(self) -> float:
        """Return how many times as likely it is elsewhere, so that it is as likely as stated on the whole."""
        return (1 - self.share * self.times) / (1 - self.share)


class Rating(Struct, frozen=True, forbid_unknown_fields=True):
    """How often users rate a session, and dislike one with and without a misbehaviour that they rate."""

    share: float
    disliked_with: float
    disliked_without: float


class Version(Struct, frozen=True, forbid_unknown_fields=True):
    """A version of the agent: its model, its weight among the sessions, the prevalence of each misbehaviour."""

    model: str
    weight: float
    prevalence: dict[str, float]


class SpareTool(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool that no session needs: its name, and its arguments with their JSON types."""

    name: str
    arguments: dict[str, str]


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is planted in a study, and how often; `settings.toml` says what each is."""

    first_day: date
    weeks: tuple[float, ...]
    weekdays: tuple[float, ...]
    hard: Hard
    rating: Rating
    version: tuple[Version, ...]
    balanced: dict[str, float]
    ended_by_itself: dict[str, float]
    spare_tool: tuple[SpareTool, ...]


@cache
def load_settings() -> Settings:
    """Return the settings of the data file."""
    return msgspec.toml.decode((Path(__file__).parent / "settings.toml").read_bytes(), type=Settings)
