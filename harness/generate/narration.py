"""What an agent says beside its calls, none of it twice in a session unless all has been said."""

from random import Random

READING = (
    "Let me look at {path}.",
    "Opening {path} to see how it is put together.",
    "{path} is where I would expect this to live.",
    "Next, {path}.",
    "I want to know what {path} does before I go on.",
    "Reading {path} now.",
    "A look into {path} should tell.",
    "The neighbouring code in {path} may follow the same pattern.",
)
SEARCHING = (
    "Who uses `{word}`?",
    "Searching for `{word}`.",
    "Let me find the places with `{word}`.",
    "I will check where `{word}` turns up.",
    "`{word}` could appear elsewhere too.",
    "Looking for other mentions of `{word}`.",
)
RUNNING = (
    "Getting an overview first.",
    "A quick look around the project.",
    "This gives me some context.",
    "Checking how things stand.",
    "One more thing worth knowing.",
    "Let me see what is there.",
)
EDITING = (
    "Now the change in {path}.",
    "I will adjust {path}.",
    "Editing {path} accordingly.",
    "This is the line to change in {path}.",
    "Making the change in {path}.",
)
TESTING = (
    "Running the tests.",
    "Let me see whether the tests agree.",
    "Time to test this.",
    "Now the test suite.",
    "Checking with the tests.",
)
CLOSING = (
    "Done: {what}.",
    "That is it. {what}.",
    "All set: {what}.",
    "Finished. {what}.",
    "Here is where we are: {what}.",
)


class Narrator:
    """Picks sentences from the pools above in an order of its own, each again only when all were used."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._left: dict[tuple[str, ...], list[str]] = {}

    def sentence(self, pool: tuple[str, ...], **words: str) -> str:
        """The next sentence of a pool, filled in."""
        left = self._left.get(pool)
        if not left:
            left = self._random.sample(pool, len(pool))
            self._left[pool] = left
        return left.pop().format(**words)
