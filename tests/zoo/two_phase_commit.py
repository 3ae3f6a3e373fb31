"""Two-phase commit: managers of resources and a coordinator decide together.

After `examples/2pc.rs` of https://github.com/stateright/stateright, whose test asserts 288 states with
three managers and 8,832 with five. It is a part of Gray and Lamport's "Consensus on Transaction
Commit"; the module `specifications/transaction_commit/TwoPhase.tla` of
https://github.com/tlaplus/Examples has, by its manifest, 288 distinct states, 1,146 generated and depth
11, and by its last remark 50,816 states with six managers.
"""

import enum

from slotproof.model.language import (
    Domain,
    Map,
    Set,
    State,
    System,
    action,
    field,
    invariant,
    parameter,
    require,
    witness,
)

managers = parameter("managers", int, 3, "managers of resources that take part")


class Manager(Domain, size=managers, names="rm{n}"):
    """Somebody who must agree to the transaction."""


class Progress(enum.Enum):
    """How far a manager has come."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Outcome(enum.Enum):
    """What the coordinator has decided."""

    OPEN = "open"
    COMMIT = "commit"
    ABORT = "abort"


class Transaction(State):
    """All participants. A message, once sent, stays and may be read again."""

    progress: Map[Manager, Progress] = field(Progress.WORKING, "how far each manager has come")
    outcome: Outcome = field(Outcome.OPEN, "what the coordinator has decided, and told everybody")
    votes_sent: Set[Manager] = field(frozenset(), "managers that have announced that they are prepared")
    votes_read: Set[Manager] = field(frozenset(), "those of which the coordinator knows it")


@action
def commit(s: Transaction) -> None:
    """The coordinator commits, since everybody is prepared."""
    require(s.outcome == Outcome.OPEN)
    require(all(m in s.votes_read for m in Manager))
    s.outcome = Outcome.COMMIT


@action
def abort(s: Transaction) -> None:
    """The coordinator gives up."""
    require(s.outcome == Outcome.OPEN)
    s.outcome = Outcome.ABORT


@action
def read_vote(s: Transaction, m: Manager) -> None:
    """The coordinator learns that {m} is prepared."""
    require(s.outcome == Outcome.OPEN)
    require(m in s.votes_sent)
    s.votes_read |= {m}


@action
def prepare(s: Transaction, m: Manager) -> None:
    """{m} is prepared and says so."""
    require(s.progress[m] == Progress.WORKING)
    s.progress[m] = Progress.PREPARED
    s.votes_sent |= {m}


@action
def refuse(s: Transaction, m: Manager) -> None:
    """{m} aborts by itself."""
    require(s.progress[m] == Progress.WORKING)
    s.progress[m] = Progress.ABORTED


@action
def follow_commit(s: Transaction, m: Manager) -> None:
    """{m} hears that it is to commit."""
    require(s.outcome == Outcome.COMMIT)
    s.progress[m] = Progress.COMMITTED


@action
def follow_abort(s: Transaction, m: Manager) -> None:
    """{m} hears that it is to abort."""
    require(s.outcome == Outcome.ABORT)
    s.progress[m] = Progress.ABORTED


@invariant
def consistent(s: Transaction) -> bool:
    """No manager has aborted while another one has committed."""
    return not (
        any(s.progress[m] == Progress.ABORTED for m in Manager)
        and any(s.progress[m] == Progress.COMMITTED for m in Manager)
    )


@witness
def all_commit(s: Transaction) -> bool:
    """Everybody commits."""
    return all(s.progress[m] == Progress.COMMITTED for m in Manager)


@witness
def all_abort(s: Transaction) -> bool:
    """Everybody aborts."""
    return all(s.progress[m] == Progress.ABORTED for m in Manager)


two_phase_commit = System(
    "two-phase-commit",
    Transaction,
    actions=[commit, abort, read_vote, prepare, refuse, follow_commit, follow_abort],
    properties=[consistent],
    witnesses=[all_commit, all_abort],
)
