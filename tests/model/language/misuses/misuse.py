"""Wrong uses of the language: the text, the line that is wrong (marked ``# <-``), and what is said.

Each text follows ``PREAMBLE``, and defines ``step``, an action, unless it makes its own ``system``.
``words`` are parts of the message, in order: what is wrong and what to write instead.
"""

from dataclasses import dataclass
from textwrap import dedent

PREAMBLE = '''\
import enum
import math
from slotproof.model.language import *

LAST = -1

count = parameter("count", int, 3, "how many items there are")

class Item(Domain, size=count, names="i{n}"):
    """Something to put into sets."""

class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Shape(enum.Enum):
    RED = "red"
    ROUND = "round"

class Part(Record):
    color: Color = field(Color.RED, "the part's color")
    weight: Annotated[int, Range(0, 9)] = field(0, "the part's weight")

class S(State):
    number: Annotated[int, Range(-3, 3)] = field(0, "a number")
    flag: bool = field(False, "a truth value")
    color: Color = field(Color.RED, "a color")
    owner: Item | None = field(None, "an item, or none")
    marked: Set[Item] = field(frozenset(), "a set of items")
    level: Map[Item, Annotated[int, Range(0, 3)]] = field(0, "a number for each item")
    queue: Seq[Item] = field((), "items in a row")
    parts: Annotated[Seq[Part], Capacity(2)] = field((), "records in a row")
    part: Part

'''

EPILOGUE = '\nsystem = System("s", S, actions=[step])\n'


@dataclass(frozen=True)
class Misuse:
    """A wrong text and what has to be said about it."""

    name: str
    text: str
    words: tuple[str, ...]

    @property
    def source(self) -> str:
        """The whole file."""
        body = dedent(self.text).strip("\n") + "\n"
        return PREAMBLE + body + ("" if "system =" in body else EPILOGUE)

    @property
    def line(self) -> int:
        """The number of the line that is marked."""
        (number,) = [n for n, line in enumerate(self.source.splitlines(), 1) if "# <-" in line]
        return number


def in_effect(name: str, lines: str, *words: str) -> Misuse:
    """A misuse in the effect of an action ``step(s, i)``."""
    return in_action(name, "s: S, i: Item", lines, *words)


def in_action(name: str, parameters: str, lines: str, *words: str) -> Misuse:
    """A misuse in an action of these parameters."""
    body = "\n".join(f"    {line}" for line in dedent(lines).strip("\n").splitlines())
    return Misuse(name, f"@action\ndef step({parameters}) -> None:\n{body}\n", words)
