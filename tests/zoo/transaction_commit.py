"""What a commit protocol promises, without saying how: managers commit together or not at all.

After the module `specifications/transaction_commit/TCommit.tla` of
https://github.com/tlaplus/Examples (Gray and Lamport, "Consensus on Transaction Commit"), whose
manifest gives for three managers 34 distinct states, 94 generated and depth 7.
"""

import enum

from slotproof.model.language import (
    Domain,
    Map,
    State,
    System,
    action,
    field,
    invariant,
    parameter,
    require,
    step_invariant,
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


class Transaction(State):
    """All participants."""

    progress: Map[Manager, Progress] = field(Progress.WORKING, "how far each manager has come")


def decided(p: Progress) -> bool:
    """Whether a manager is at an end."""
    return p in {Progress.COMMITTED, Progress.ABORTED}


@action
def prepare(s: Transaction, m: Manager) -> None:
    """{m} is ready to commit."""
    require(s.progress[m] == Progress.WORKING)
    s.progress[m] = Progress.PREPARED


@action
def commit(s: Transaction, m: Manager) -> None:
    """{m} commits, as nobody works any more or has aborted."""
    require(s.progress[m] == Progress.PREPARED)
    require(all(s.progress[n] in {Progress.PREPARED, Progress.COMMITTED} for n in Manager))
    s.progress[m] = Progress.COMMITTED


@action
def abort(s: Transaction, m: Manager) -> None:
    """{m} aborts, as nobody has committed."""
    require(not decided(s.progress[m]))
    require(all(s.progress[n] != Progress.COMMITTED for n in Manager))
    s.progress[m] = Progress.ABORTED


@invariant
def consistent(s: Transaction) -> bool:
    """No manager has aborted while another one has committed."""
    return not (
        any(s.progress[m] == Progress.ABORTED for m in Manager)
        and any(s.progress[m] == Progress.COMMITTED for m in Manager)
    )


@step_invariant
def decisions_stay(before: Transaction, after: Transaction) -> bool:
    """Who has committed or aborted stays so."""
    return all(after.progress[m] == before.progress[m] for m in Manager if decided(before.progress[m]))


@step_invariant(on=commit)
def commit_is_of_the_prepared(before: Transaction, after: Transaction, m: Manager) -> bool:
    """Only a prepared manager commits."""
    return before.progress[m] == Progress.PREPARED and after.progress[m] == Progress.COMMITTED


def all_decided(s: Transaction) -> bool:
    """The transaction is over."""
    return all(decided(s.progress[m]) for m in Manager)


transaction_commit = System(
    "transaction-commit",
    Transaction,
    actions=[prepare, commit, abort],
    properties=[consistent, decisions_stay, commit_is_of_the_prepared],
    final=all_decided,
)
