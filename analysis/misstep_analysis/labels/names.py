"""What columns of tables of labels are called, for all who read such tables: whose labels, or none at all."""

import re

# fmt: off
ITEM_NAMES = (
    "item", "item_id", "task_id", "task", "id", "example_id", "example", "sample_id", "sample", "document_id", "doc_id",
    "document", "record_id", "record", "external_id", "unit_id", "unit", "trajectory_id", "trajectory", "trace_id",
    "trace", "run_id", "run", "session_id", "session", "case_id", "case", "instance_id", "instance", "input_hash",
    "text_id", "question_id", "hit_id", "hitid", "qid",
)
RATER_NAMES = (
    "rater", "rater_id", "annotator", "annotator_id", "annotator_name", "annotated_by", "coder", "coder_id", "labeler",
    "labeller", "completed_by", "user", "user_id", "username", "worker", "worker_id", "reviewer", "assessor",
    "evaluator", "annotateur", "codeur", "bewerter", "bewerterin", "prüfer", "prüferin", "gutachter", "kodierer",
    "codierer", "anotador", "evaluador", "codificador", "annotatore", "beoordelaar", "session_id", "judge",
)
"""What columns of raters are called, the surest first."""

LABEL_NAMES = (
    "label", "labels", "rating", "category", "code", "annotation", "answer", "choice", "value", "class", "verdict",
    "judgement", "judgment", "grade", "score", "decision",
)
SYSTEMS = ("system", "model", "generator", "agent")
PEOPLE = frozenset({
    "human", "humans", "gold", "truth", "expert", "reference", "annotator", "annotation", "rater", "manual", "actual",
    "label", "labels", "labeled", "labelled", "target", "expected",
})
JUDGES = frozenset({
    "judge", "judges", "judged", "prediction", "predicted", "pred", "llm", "model", "autorater", "grader", "auto", "ai",
    "verdict", "classifier", "evaluator",
})
SCORES = frozenset({"score", "confidence", "prob", "probability", "certainty", "likelihood", "p"})
TEXTS = frozenset({"text", "output", "response", "answer", "input", "question", "prompt", "task", "content"})

_NO_LABELS = frozenset({
    # how sure somebody was, and what is to be done with a row
    "confidence", "confident", "prob", "probability", "certainty", "likelihood", "unsure", "uncertain", "uncertainty",
    "difficulty", "difficult", "hardness", "complexity", "ambiguous", "ambiguity", "needs", "review", "reviewed",
    "flag", "flags", "flagged", "skip", "skipped", "checked", "cancelled", "duplicate", "escalated", "priority",
    "status", "error",
    # which part of the work a row belongs to
    "batch", "split", "fold", "round", "phase", "attempt", "trial", "seed", "stratum", "strata", "cluster", "dataset",
    "source", "origin", "project", "repo", "repository", "domain", "topic", "language", "locale", "version",
    # words on a row, and what a machine wrote beside it
    "reason", "reasons", "reasoning", "rationale", "explanation", "comment", "comments", "note", "notes", "remark",
    "remarks", "description", "message", "prompt", "output", "input", "response", "cost", "tokens", "seconds",
    "minutes", "duration", "elapsed", "latency", "timestamp", "datetime", "created", "updated", "url", "uuid", "hash",
    "meta", "metadata", "length",
})
"""Words in the name of a column that holds something else than labels, beside whatever other words."""

_NO_LABELS_ALONE = frozenset({"text", "content", "date", "time", "link"})
"""Names of such columns whose words also occur in the name of a rater."""

_NO_LABELS_ENDINGS = frozenset({"at", "id", "ids", "time", "date", "text"})
"""Last words of such names; a rater's initials may be ID, so that a word stands before them."""

_FREE_TEXT = (
    "kommentar", "coment", "remarque", "bemerk", "anmerk", "notiz", "hinweis", "freitext", "begründ", "begruend",
    "erklär", "erklaer", "explan", "explic", "justif", "rational", "observaci", "observaç", "opmerk", "feedback",
    "schwierig", "dificult", "difficult", "confian", "sicherheit", "unsicher",
)
"""How such words begin in several languages."""
# fmt: on


_TOLOKA = "OUTPUT:"
"""How columns with the answers of people begin in an export of Toloka."""


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, without the numbers in it."""
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", "_", name).casefold()
    return tuple(filter(None, re.split(r"[\W\d_]+", apart)))


def holds_no_labels(name: str) -> bool:
    """Return whether a column is called like one that holds something else than labels."""
    words = words_of(name.removeprefix(_TOLOKA))
    if "_".join(words) in _NO_LABELS_ALONE or not _NO_LABELS.isdisjoint(words):
        return True
    ends = len(words) > 1 and words[-1] in _NO_LABELS_ENDINGS
    return ends or any(word.startswith(_FREE_TEXT) for word in words)


def holds_names(name: str) -> bool:
    """Return whether a column may be one of the names of items or of raters."""
    return words_of(name)[-1:] in {("id",), ("name",)} or not holds_no_labels(name)
