"""The table of decisions and releases, and candidates made from a release."""

from __future__ import annotations

from itertools import pairwise

import pytest

from slotproof.model.decisions import DECISIONS
from slotproof.model.language import LanguageError, Set, action, field, require
from slotproof.model.language.compile import compile_system
from slotproof.model.releases import HISTORY, RELEASES, base_of, cell, release
from slotproof.model.serving.front import close
from slotproof.model.serving.scheduler import Scheduler
from slotproof.model.serving.server import Server
from slotproof.model.serving.step import at_ingest
from slotproof.model.serving.vocabulary import Request
from slotproof.properties import SCENARIOS


def test_every_decision_has_a_history_from_the_first_release_on() -> None:
    """X-4: each cell names a release, an alternative of the decision, and where that is written."""
    assert set(HISTORY) == {d.point for d in DECISIONS}
    for d in DECISIONS:
        cells = HISTORY[d.point]
        assert cells[0].since == RELEASES[0]
        assert [RELEASES.index(c.since) for c in cells] == sorted({RELEASES.index(c.since) for c in cells})
        assert all(c.alternative in d.functions and c.reference for c in cells)
        assert all(a.alternative is not b.alternative for a, b in pairwise(cells))


def test_every_alternative_says_what_it_means() -> None:
    """A decision asks a question, an alternative answers it."""
    for d in DECISIONS:
        assert d.point.meaning.endswith(".")
        for f in d.functions:
            assert (f.__doc__ or "").strip().endswith("."), f.__name__


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_follows_from_the_table(name: str) -> None:
    """Nothing else tells releases apart."""
    assert release(name).choices == {d.point.name: cell(d.point, name).alternative for d in DECISIONS}


def test_an_unknown_release_or_decision_is_refused_with_what_there_is() -> None:
    """Bad input: one line that says what to write instead."""
    with pytest.raises(LanguageError, match=r"no release '0\.5\.11'"):
        release("0.5.11")
    with pytest.raises(LanguageError, match="no decision 'reap'"):
        release("0.5.23").replace(reap="reap_nothing")
    with pytest.raises(LanguageError, match="it has: reap_nothing, reap_all_ended"):
        release("0.5.23").replace(reap_first="never")


def aborted_rows_leave(scheduler: Scheduler) -> Set[Request]:
    """A candidate's rule: rows that have finished or will be finished do not occupy slots."""
    return (scheduler.running - scheduler.finished) - scheduler.to_finish


class LoggedServer(Server):
    """A candidate's state: who has been answered."""

    answered: Set[Request] = field(set(), "requests that have been answered")


@action(actor="tokenizer")
def answer(s: LoggedServer, r: Request) -> None:
    """A candidate's ``answer``, which remembers {r}."""
    require(at_ingest(s))
    require(r in s.replies.outputs)
    s.answered |= {r}
    close(s, r)


def test_a_candidate_replaces_a_decision_an_action_and_adds_state() -> None:
    """The file that a maintainer writes before touching the scheduler."""
    candidate = release("0.5.23").replace(occupied_on_prefill=aborted_rows_leave)
    candidate = candidate.with_actions(answer).with_state(LoggedServer)
    assert candidate.name == "0.5.23+"
    system = SCENARIOS["finish-unload"].system(candidate)
    assert system.choices["occupied_on_prefill"] == "aborted_rows_leave"
    program = compile_system(system)
    assert "answered" in {c.name for c in program.columns}
    assert release("0.5.23").choices["occupied_on_prefill"] is not aborted_rows_leave


def test_a_candidate_that_is_called_after_its_file_still_starts_from_its_release() -> None:
    candidate = release("0.5.23").replace(occupied_on_prefill=aborted_rows_leave).called("my+gate")
    assert (candidate.name, candidate.base) == ("0.5.23+my+gate", "0.5.23")
    assert candidate.with_actions(answer).name == "0.5.23+my+gate"
    assert candidate.called("other").name == "0.5.23+other"
    assert release("0.5.23").called("gate").name == "0.5.23"
    assert base_of("0.5.23") == base_of("0.5.23+") == base_of(candidate.name) == "0.5.23"


def test_the_releases_of_an_answer_are_said_with_where_that_is_written() -> None:
    from slotproof.model.releases import when

    assert when("reap_first", "reap_nothing").startswith("up to 0.5.12.post1 (")
    assert when("reap_first", "reap_all_ended") == "from 0.5.13 on (#25413)"
    assert when("refusal_ends_the_pass", "skips_the_refused") == "in every release (since 0.5.7)"
    assert when("failing_handler_discards", "discards_the_state").startswith("from 0.5.14 to 0.5.19 (")
    assert when("failing_handler_discards", "keeps_the_state").count("(") == 2
    assert when("gate_on_reservation", "of_nobody") == ""
