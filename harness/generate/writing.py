"""A plan written as a session: turns of the user, looks around, pieces, changes, tests, last words."""

from misstep.harness.generate.instructions import rewrite_documents, tweak_elsewhere
from misstep.harness.generate.look_alikes import MEND_EVERYWHERE
from misstep.harness.generate.misbehaviours import Piece
from misstep.harness.generate.plan import Plan
from misstep.harness.generate.projects import ProjectChange, change_limit
from misstep.harness.generate.session import CHANGED, EDIT, INSTRUCTION, READ, RUN, Session

_OF_LATER = {EDIT: 1, READ: 1, RUN: 2}
"""The calls of a later turn that cannot be left out."""

_OF_CHANGE = {EDIT: 2, READ: 2}
"""About how many calls an unrequested change makes."""


def write_session(session: Session, plan: Plan) -> None:
    """Write a session as it is planned."""
    functions = session.pick_functions(3 if plan.limit.by_mode else session.random.randint(2, 3))
    changes = (
        [change_limit(session.random, one) for one in functions]
        if MEND_EVERYWHERE in plan.look_alikes
        else [session.pick_change(one) for one in functions]
    )
    first, second = (changes[:-1], changes[-1:]) if plan.later else (changes, [])
    unending = [placed.piece for placed in plan.pieces if not placed.ends]
    for placed in plan.pieces:
        session.keep_room(placed.piece.calls)
    if CHANGED in plan.truth:
        session.keep_room(_OF_CHANGE)
    _ask_first(session, plan, first)
    plan.instruction.begin()
    if plan.limit.by_mode:
        _plan_first(session, plan, first)
    for alike in (one for one in plan.look_alikes if not one.after):
        alike.write(session, first[0])
    if plan.later:
        session.keep_room(_OF_LATER)
        _work(session, plan, first, 0)
        session.close("closing", first[-1])
        session.give_room(_OF_LATER)
        change = second[0]
        instruction = f"{plan.instruction.ask()} " if plan.instruction.when == "later" else ""
        session.user(f"{instruction}{session.wish(change)}")
    pending = second or first
    held = [pending.pop()] if any(piece.edits for piece in unending) else []
    _work(session, plan, pending, int(plan.later))
    about = (held or pending)[-1]
    for piece in unending:
        about = _misbehave(session, piece, about)
    last = session.close("giving_up" if unending else "closing", about)
    if plan.tested_again:
        session.user(session.user_text("test_again"))
        session.test()
        last = session.say(session.agent_text("tests_green"))
    plan.instruction.end(last)


def _plan_first(session: Session, plan: Plan, changes: list[ProjectChange]) -> None:
    """A plan that the user agrees to; if it is planned so, the first change is made before, and is no longer due."""
    session.look_around(0.2)
    if plan.limit_broken:
        plan.limit.break_(session, changes[0], plan.ends[CHANGED])
    session.close("plan", changes[0])
    if plan.limit_broken and not plan.ends[CHANGED]:
        del changes[0]
    session.planning = False
    session.user(session.user_text("agreed"))


def _ask_first(session: Session, plan: Plan, changes: list[ProjectChange]) -> None:
    if plan.limit.by_mode:
        session.planning = True
        session.system(session.replied("plan_mode"))
    wishes = [session.user_text(one.asked) for one in plan.look_alikes if one.asked]
    instruction = [plan.instruction.ask()] if plan.instruction.when == "first" else []
    wishes += [plan.limit.ask(session), *instruction]
    session.ask(" ".join(session.wish(change) for change in changes), *wishes)


def _work(session: Session, plan: Plan, changes: list[ProjectChange], turn: int) -> None:
    last = turn == plan.later
    session.look_around(0.35)
    for placed in plan.pieces:
        if placed.ends and placed.turn == turn:
            changes[0] = _misbehave(session, placed.piece, changes[0])
            session.look_around(0.15)
    session.traced = list(changes)
    plan.instruction.make(changes, plan.ends.get(INSTRUCTION, False))
    if turn == 0:
        if CHANGED in plan.truth:
            session.give_room(_OF_CHANGE)
        for alike in (one for one in plan.look_alikes if one.after):
            alike.write(session, changes[0])
        change = changes[0]
        taken_back = plan.ends.get(CHANGED, False)
        if plan.limit_broken and not plan.limit.by_mode:
            plan.limit.break_(session, change, taken_back)
        elif not plan.limit_broken and CHANGED in plan.truth:
            session.random.choice((tweak_elsewhere, rewrite_documents))(session, taken_back)
    if last:
        session.trace()
    session.keep_room({RUN: 1})
    session.look_around(1.0 if last else 0.5)
    session.give_room({RUN: 1})
    plan.instruction.test(turn > 0)


def _misbehave(session: Session, piece: Piece, change: ProjectChange) -> ProjectChange:
    """Return a piece, for which room was kept; gives the change as it has to be made then."""
    session.give_room(piece.calls)
    return piece.write(session, change) or change
