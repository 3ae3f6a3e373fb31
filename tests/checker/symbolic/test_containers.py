"""Queues and sets are found with what they hold, and what is shown of them on the way is true."""

from slotproof.checker.symbolic import certificate
from slotproof.checker.symbolic.booleans import FALSE, TRUE
from slotproof.checker.symbolic.containers import containers
from slotproof.checker.symbolic.rechecking import recheck
from slotproof.checker.symbolic.relation import relation
from slotproof.checker.symbolic.safety import of_relation
from slotproof.checker.symbolic.solving import Budget, Formulas
from slotproof.checker.symbolic.strengthening import before_step, of_lemmas
from slotproof.checker.symbolic.through import Step
from slotproof.model.language import (
    Annotated,
    Capacity,
    Domain,
    Map,
    Seq,
    Set,
    State,
    System,
    action,
    field,
    invariant,
    require,
)
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from tests.checker.symbolic import gym
from tests.checker.symbolic.test_relation import choices_of

no_limit = Budget(None, None)


class Guest(Domain, size=3, names="g{n}"):
    """Who comes."""


class Room(Domain, size=2, names="room{n}"):
    """Where they sit."""


class Inn(State):
    """Guests wait, and are served in one of two rooms."""

    waiting: Seq[Guest] = field((), "at the door")
    served: Map[Room, Annotated[Seq[Guest], Capacity(3)]] = field((), "at a table")
    paid: Set[Guest] = field(set(), "who may go")


@action
def come(s: Inn, g: Guest) -> None:
    """A guest who is not there yet."""
    require(g not in s.waiting and all(g not in s.served[k] for k in Room) and g not in s.paid)
    s.waiting.append(g)


@action
def seat(s: Inn, k: Room, who: Set[Guest]) -> None:
    """Some sit down, in the order in which they came."""
    for g in s.waiting:
        if g in who:
            s.served[k].append(g)
    s.waiting[:] = [g for g in s.waiting if g not in who]


@action
def pay(s: Inn, k: Room, g: Guest) -> None:
    """One gets up."""
    require(g in s.served[k])
    s.paid |= {g}
    s.served[k][:] = [other for other in s.served[k] if other != g]


@action
def leave(s: Inn) -> None:
    """All who have paid."""
    s.paid = set()


def once(queue: Annotated[Seq[Guest], Capacity(3)]) -> bool:
    """Whether nobody is there twice."""
    return all(all(queue[i] != queue[j] for j in range(3) if j < i) for i in range(3) if i < len(queue))


@invariant
def in_one_place(s: Inn) -> bool:
    """Everybody is in one place at most."""
    return all(
        sum((1 if g in s.served[k] else 0) for k in Room)
        + (1 if g in s.waiting else 0)
        + (1 if g in s.paid else 0)
        <= 1
        for g in Guest
    )


@invariant
def each_once(s: Inn) -> bool:
    """Everybody is there once."""
    return once(s.waiting) and all(once(s.served[k]) for k in Room)


inn = compile_system(
    System("inn", Inn, actions=[come, seat, pay, leave], properties=[in_one_place, each_once])
)


def test_containers_hold_what_the_state_has() -> None:
    made = relation(inn, ())
    found = containers(made)
    assert [(x.name, x.capacity) for x in found] == [
        ("waiting", 3),
        ("served[]", 3),
        ("served[]", 3),
        ("paid", 0),
    ]
    interpreter = Interpreter(inn, ())
    states = {interpreter.stored(s) for _, _, s in interpreter.initial()}
    for _ in range(4):
        states |= {
            interpreter.stored(outcome.state) for s in states for _, _, outcome in interpreter.successors(s)
        }
    assert len(states) > 50
    for state in states:
        cells = made.symbolic(state)
        for one in found:
            held = [x == TRUE for x in one.holds(made, cells)]
            if one.capacity:
                items = state[one.items : one.items + state[one.length]]
                assert [n for n, there in enumerate(held) if there] == sorted(set(items))
                assert one.each_once(made, cells) == (TRUE if len(set(items)) == len(items) else FALSE)
            else:
                assert sum(there << n for n, there in enumerate(held)) == state[one.items]


def test_any_system_has_its_containers() -> None:
    """Queues of records, of capacity one, within maps: what is none of elements is left out."""
    for system in (gym.numbers, gym.sets, gym.boxes, gym.queues, gym.kitchen):
        program = compile_system(system)
        made = relation(program, choices_of(system, program))
        for one in containers(made):
            assert len(one.holds(made, made.before)) == one.type.size
            one.each_once(made, made.before)


def test_where_elements_come_from_is_shown_and_true() -> None:
    """Each fact is a question of the certificate: a false one would be refused."""
    made = relation(inn, ())
    names = ("in-one-place", "each-once")
    question = of_relation(made, names)
    true = {name: made.holds_in(name, made.before) for name in names}
    facts = {}
    for move in made.moves:
        conditions = [*before_step(question, move), *true.values()]
        step = Step(made, move, conditions, Formulas(made.booleans), no_limit, lambda _: None, None)
        for stop in move.result.stops:
            step.follow(stop)
        facts[move.number] = step.shown
    assert len(facts[1]) > 10
    assert not facts[3]  # no queue is changed there
    text = certificate.written(inn, (), (of_lemmas(made, names, true, facts),), {})
    assert text.count("; hint of stage 0 in action 1\n") == len(facts[1])
    assert f"to all {text.count('(check-sat)')} questions" in next(recheck(text, inn, (), no_limit))
