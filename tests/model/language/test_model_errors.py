"""Leaving the model is the same error, at the same line, in the interpreter, native code and the solver."""

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

import pytest

from slotproof.checker.explicit.engine import explore
from slotproof.checker.symbolic.engine import check_bounded
from slotproof.model.language import ModelError
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from tests.model.language.interpreted import explored
from tests.model.language.misuses import PREAMBLE


@dataclass(frozen=True)
class Leaving:
    """A text that leaves the model at the line marked ``# <-``, after so many steps, and the words for it."""

    name: str
    text: str
    words: str
    depth: int = 1

    @property
    def source(self) -> str:
        body = dedent(self.text).strip("\n") + "\n"
        return PREAMBLE + body + ("" if "system =" in body else 'system = System("s", S, actions=[step])\n')

    @property
    def line(self) -> int:
        (number,) = [n for n, line in enumerate(self.source.splitlines(), 1) if "# <-" in line]
        return number


def in_effect(name: str, lines: str, words: str, depth: int = 1) -> Leaving:
    """A model error in the effect of an action ``step(s, i)``."""
    body = indent(dedent(lines).strip("\n"), "    ")
    return Leaving(name, f"@action\ndef step(s: S, i: Item) -> None:\n{body}\n", words, depth)


LEAVING = [
    in_effect("above-the-range", "s.number += 2  # <-", "4 leaves the range -3..3", depth=2),
    in_effect("below-the-range", "s.number = s.number - 2  # <-", "-4 leaves the range -3..3", depth=2),
    in_effect("item-of-a-map", "s.level[i] = 4  # <-", "4 leaves the range 0..3"),
    in_effect("field-of-a-record", "s.part.weight = -1  # <-", "-1 leaves the range 0..9"),
    in_effect(
        "field-of-an-item",
        "s.parts.append(Part(color=Color.RED, weight=10))  # <-",
        "10 leaves the range 0..9",
    ),
    in_effect(
        "overfull",
        "s.parts.append(Part(color=Color.RED, weight=1))  # <-",
        "a sequence of 2 is full",
        depth=3,
    ),
    in_effect("overfull-queue", "s.queue.append(i)  # <-", "a sequence of 3 is full", depth=4),
    in_effect("overfull-by-insertion", "s.queue.insert(0, i)  # <-", "a sequence of 3 is full", depth=4),
    in_effect("inserted-beyond", "s.queue.insert(1, i)  # <-", "item 1 is inserted in a sequence of 0"),
    in_effect("pop-of-nothing", "s.queue.pop(0)  # <-", "item 0 is taken from a sequence of 0"),
    in_effect("value-of-pop", "s.owner = s.queue.pop(0)  # <-", "item 0 is taken from a sequence of 0"),
    in_effect("item-of-nothing", "s.owner = s.queue[0]  # <-", "item 0 is read of a sequence of 0"),
    in_effect(
        "item-beyond", "s.queue.append(i)\ns.owner = s.queue[1]  # <-", "item 1 is read of a sequence of 1"
    ),
    in_effect(
        "item-before",
        "s.queue.append(i)\ns.owner = s.queue[s.number - 1]  # <-",
        "item -1 is read of a sequence of 1",
    ),
    in_effect("item-set-beyond", "s.queue[0] = i  # <-", "item 0 is set in a sequence of 0"),
    in_effect(
        "removed-and-absent",
        "s.queue.remove(i)  # <-",
        "i1 is removed from a sequence that does not hold it",
    ),
    in_effect("some-of-none", "s.marked = {some(s.owner)}  # <-", "an empty optional is read"),
    in_effect(
        "none-as-key", "s.number = s.level[s.owner]  # <-", "an empty optional is read where a Item is needed"
    ),
    in_effect("none-as-number", "s.number = s.owner.index  # <-", "an empty optional is read"),
    in_effect("none-in-order", "s.flag = s.owner < i  # <-", "an empty optional is read"),
    in_effect(
        "beyond-the-domain",
        "s.number = 0\ns.owner = Item(s.number + 3)  # <-",
        "Item(3) leaves the domain of 3",
    ),
    in_effect(
        "before-the-domain",
        "s.number = 0\ns.owner = Item(s.number - 1)  # <-",
        "Item(-1) leaves the domain of 3",
    ),
    in_effect(
        "least-of-nothing",
        "s.owner = min(s.marked)  # <-",
        "the least, greatest or first of nothing is taken",
    ),
    in_effect(
        "greatest-of-nothing",
        "s.number = max(s.level[j] for j in s.marked)  # <-",
        "the least, greatest or first of nothing is taken",
    ),
    in_effect(
        "first-of-nothing",
        "s.owner = next(j for j in Item if s.level[j] > 0)  # <-",
        "the least, greatest or first of nothing is taken",
    ),
    in_effect(
        "inside-all",
        "s.flag = all(s.level[some(s.owner)] == 0 for j in Item)  # <-",
        "an empty optional is read",
    ),
    in_effect("inside-a-loop", "for j in Item:\n    s.number += 2  # <-", "4 leaves the range -3..3"),
    in_effect(
        "after-others",
        "s.flag = True\nif s.flag:\n    s.number = 5  # <-\ns.number = 0",
        "5 leaves the range -3..3",
    ),
    Leaving(
        "in-a-helper",
        """
        def next_item(s: S) -> Item:
            return Item(s.number + 3)  # <-

        @action
        def step(s: S) -> None:
            s.owner = next_item(s)
            s.number = 0
        """,
        "Item(3) leaves the domain of 3",
    ),
    Leaving(
        "in-a-procedure",
        """
        def add(s: S, amount: int) -> None:
            s.number += amount  # <-

        @action
        def step(s: S) -> None:
            add(s, 4)
        """,
        "4 leaves the range -3..3",
    ),
    Leaving(
        "in-a-guard",
        """
        @action
        def step(s: S) -> None:
            require(not s.flag)
            require(some(s.owner) == Item(0))  # <-
            s.flag = True
        """,
        "an empty optional is read",
    ),
    Leaving(
        "in-a-property",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def first(s: S) -> bool:
            return not s.flag or some(s.owner) == Item(0)  # <-

        system = System("s", S, actions=[step], properties=[first])
        """,
        "an empty optional is read",
    ),
    Leaving(
        "in-the-second-part-of-a-property",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def first(s: S) -> bool:
            number = s.number + 1
            return number == 1 and (
                not s.flag
                or some(s.owner) == Item(0)  # <-
            )

        system = System("s", S, actions=[step], properties=[first])
        """,
        "an empty optional is read",
    ),
    Leaving(
        "in-a-step-property",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @step_invariant
        def first(before: S, after: S) -> bool:
            return some(after.owner) == Item(0)  # <-

        system = System("s", S, actions=[step], properties=[first])
        """,
        "an empty optional is read",
    ),
    Leaving(
        "at-the-start",
        """
        @initial
        def begin(s: S, i: Item) -> None:
            s.number = 2 + i.index  # <-

        @action
        def step(s: S) -> None:
            s.flag = True

        system = System("s", S, actions=[step], initial=[begin])
        """,
        "4 leaves the range -3..3",
        depth=0,
    ),
    Leaving(
        "in-an-alternative",
        """
        @decision
        def chosen(s: S) -> int:
            '''A number.'''

        def small(s: S) -> int:
            return 1

        def large(s: S) -> int:
            return 2 + some(s.owner).index  # <-

        @action
        def step(s: S) -> None:
            s.number = chosen(s)

        system = System(
            "s", S, actions=[step], decisions=[Alternatives(chosen, small, large)],
            choices={"chosen": "large"},
        )
        """,
        "an empty optional is read",
    ),
]


def compile_file(path: Path) -> Program:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
        return compile_system(module.system)
    finally:
        del sys.modules[path.stem]


@pytest.mark.parametrize("leaving", LEAVING, ids=lambda x: x.name)
def test_leaving_the_model_is_one_error_at_one_line(leaving: Leaving, tmp_path: Path) -> None:
    path = tmp_path / f"leaving_{leaving.name.replace('-', '_')}.py"
    path.write_text(leaving.source)
    program = compile_file(path)
    choices = program.choices(program.system.choices)
    expected = f"{path}:{leaving.line}: {leaving.words}"
    found = explored(program, choices)
    assert expected in found.errors
    assert found.error_depth == leaving.depth
    with pytest.raises(ModelError) as native:
        explore(program, choices)
    with pytest.raises(ModelError) as solved:
        check_bounded(program, choices)
    for error in (native, solved):
        assert str(error.value) in found.errors
    if len(found.errors) == 1:
        assert found.errors == {expected}
