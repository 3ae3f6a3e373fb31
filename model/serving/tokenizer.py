"""The tokenizer process: request states, and who gives back which reference (``tokenizer_manager.py``).

An open state owns one reference of its adapter: it was acquired on arrival. The state closes when the
scheduler's last word on the request arrives, a last token output or an abort echo, and which of these
ways also releases the reference has changed from release to release.
"""

from __future__ import annotations

from slotproof.model.language import Record, Set, decision, field
from slotproof.model.serving.vocabulary import Request


class Tokenizer(Record):
    """``TokenizerManager``: the states of requests that have not been answered."""

    sent: Set[Request] = field(set(), "requests that were sent (one-time traffic alone)")
    open: Set[Request] = field(set(), "requests with a tokenizer state; each owns one reference")
    looked_up: Set[Request] = field(set(), "requests of a batch: adapter looked up, reference not taken yet")
    warm_up: Request | None = field(None, "parallel sampling: the request whose prompt is computed first")
    promised: Request | None = field(None, "parallel sampling: the sample that is still to be sent")


class Replies(Record):
    """The two ways up: token outputs through the detokenizer, abort echoes directly.

    They are unordered with each other, and so are the messages of different requests here: what the
    tokenizer does for one request on receipt commutes with the others.
    """

    outputs: Set[Request] = field(set(), "requests whose last token output is on its way")
    errors: Set[Request] = field(set(), "of these, those whose finish reason is an abort with status 500")
    echoes: Set[Request] = field(set(), "requests whose abort echo is on its way")


@decision
def echo_releases() -> bool:
    """Whether an abort echo releases the reference of the request that it closes."""
    raise NotImplementedError


def only_outputs_release() -> bool:
    """No: it closes the state and the reference is lost (up to 0.5.21, #34205)."""
    return False


def every_end_releases() -> bool:
    """Yes, ``_release_lora_once`` (0.5.22)."""
    return True


@decision
def error_releases_twice() -> bool:
    """Whether an output with abort status 500 is followed by a second release, of the waiting handler."""
    raise NotImplementedError


def by_output_and_by_handler() -> bool:
    """Yes, if the client still listens (up to 0.5.21)."""
    return True


def once_per_state() -> bool:
    """No (0.5.22)."""
    return False


@decision
def warm_up_releases() -> bool:
    """Whether the first run of a prompt with several samples releases a reference when it ends."""
    raise NotImplementedError


def like_any_output() -> bool:
    """Yes, though it owns none: n + 1 releases for n references (up to 0.5.21, #25864, #36894)."""
    return True


def only_samples_release() -> bool:
    """No (0.5.22)."""
    return False


@decision
def failing_handler_discards() -> bool:
    """What a handler that fails while the scheduler has the request does to the request's state."""
    raise NotImplementedError


def keeps_the_state() -> bool:
    """It stays open until the scheduler answers (up to 0.5.13, and from 0.5.20)."""
    return False


def discards_the_state() -> bool:
    """It is dropped at once, reference and all; the scheduler's answer is ignored (0.5.14 to 0.5.19)."""
    return True


@decision
def undispatched_failure_releases() -> bool:
    """Whether a handler that fails after the acquire and before the send releases the reference."""
    raise NotImplementedError


def loses_the_reference() -> bool:
    """No (up to 0.5.21, #31808)."""
    return False


def gives_the_reference_back() -> bool:
    """Yes (0.5.22)."""
    return True
