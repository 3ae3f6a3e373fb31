"""The tokenizer process: request states and their references (``managers/tokenizer_manager.py``)."""

from __future__ import annotations

from slotproof.model.language import Record, Set, field
from slotproof.model.serving.vocabulary import Request


class Tokenizer(Record):
    """``TokenizerManager``: the states of requests that have not been answered."""

    sent: Set[Request] = field(set(), "requests that were sent (one-time traffic alone)")
    open: Set[Request] = field(set(), "requests with a tokenizer state; each owns one reference")


class Replies(Record):
    """The two ways up: token outputs through the detokenizer, abort echoes directly.

    They are unordered with each other, and so are the messages of different requests here: what the
    tokenizer does for one request on receipt commutes with the others.
    """

    outputs: Set[Request] = field(set(), "requests whose last token output is on its way")
    echoes: Set[Request] = field(set(), "requests whose abort echo is on its way")
