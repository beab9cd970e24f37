"""What the loop learns: lessons with weights, from this run and from earlier ones."""

from misstep_harness.reflexive.memory.bans import Ban, bans, bans_text
from misstep_harness.reflexive.memory.lessons import Lesson, lessons_in
from misstep_harness.reflexive.memory.store import Memory, MemoryRules, lessons_text, memory_of

__all__ = ["Ban", "Lesson", "Memory", "MemoryRules", "bans", "bans_text", "lessons_in", "lessons_text", "memory_of"]
