"""The words that a page explains: those that it uses, with the meaning of what declares them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slotproof.counterexamples.explorer.glossary import glossary, texts_of
from slotproof.model.language import LanguageError
from slotproof.model.language.compile import compile_system
from slotproof.model.language.wording import meaning_of
from slotproof.model.serving.glossary import WORDS
from tests.counterexamples import shop

SHOP = {
    "goods": shop.Good,
    "store": shop.Store.held,
    "buy": shop.buy,
    "room": shop.room,
    "till": "Where money is.",
}


def test_a_meaning_stands_where_the_thing_is_declared() -> None:
    assert {word: meaning_of(declared) for word, declared in SHOP.items()} == {
        "goods": "A kind of goods.",
        "store": "goods that are in the store",
        "buy": "The shop buys what the first order names.",
        "room": "orders that the queue holds",
        "till": "Where money is.",
    }
    assert (
        meaning_of(shop)
        == "A shop that fails in every way that a trace can end: a state, a step, a crash, a standstill."
    )


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("Two rooms are left.", ["room"]),
        ("Nobody is roommate of a tiller.", []),
        ("TILL", ["till"]),
        ("what the store0 holds", ["goods", "store"]),  # its meaning speaks of goods
    ],
)
def test_words_are_found_as_they_begin_and_so_are_those_of_their_meanings(text: str, used: list[str]) -> None:
    assert [word for word, _ in glossary(SHOP, [text])] == used


def test_every_text_of_the_data_counts() -> None:
    assert list(texts_of({"a": ["x", ("y", 3, None)], "b": {"c": "z"}})) == ["x", "y", "z"]


def test_each_word_of_the_server_has_a_meaning_that_is_not_only_itself() -> None:
    for word, declared in WORDS.items():
        meaning = meaning_of(declared)
        assert len(meaning.split()) > 2, word
        assert "{" not in meaning, word


def test_a_system_s_words_are_a_mapping_and_change_nothing_about_it() -> None:
    with pytest.raises(LanguageError, match="words is"):
        replace(shop.shop, words=["till"])  # type: ignore[arg-type]
    assert compile_system(replace(shop.shop, words=SHOP)).digest == compile_system(shop.shop).digest
