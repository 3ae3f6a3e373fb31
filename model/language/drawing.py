"""How a state is drawn: the words in which a model declares it, for the explorer to lay out over time.

A drawing is a function of the state object, written beside the model and named by its system
(``System(…, drawing=picture)``)::

    def picture(s: Buffer) -> list[Group]:
        full = [Bar("items", f"{s.items} items")] if s.items else []
        return [Group("Buffer", rows=("items",), bars=full)]

It is linked like every function of the model (domains have their sizes, parameters their values), but it
is ordinary Python otherwise, and no engine looks at it. A system without one is drawn as a table of its
variables.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Texture(enum.Enum):
    """A pattern, which tells bars of one colour apart and colours that a reader cannot tell apart."""

    PLAIN = "plain"
    OUTLINE = "outline"
    STRIPES = "stripes"
    DOTS = "dots"
    CROSS = "cross"


@dataclass(frozen=True, slots=True)
class Bar:
    """What one row shows in one state. Equal bars of successive states are drawn as one.

    ``hue`` counts through the palette; the same thing has the same number everywhere. ``mark`` is a word
    on what happens to it in this state alone. A bar that is ``passing`` belongs to the step that led to
    the state, and is not joined with its neighbours. An ``odd`` one is pointed out to who asks what went
    wrong, with the step since which it stands: it is not as a reader would expect.
    """

    row: str
    text: str
    hue: int = 0
    texture: Texture = Texture.PLAIN
    mark: str = ""
    passing: bool = False
    odd: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that belong together, under a title; ``rows`` are drawn even where they have no bar.

    With ``places`` the rows are like places: ``Bar.row`` then names what takes a place, and it stays on
    the first place that was free when it came. ``legend`` says what a texture means here.
    """

    title: str
    bars: list[Bar]
    rows: tuple[str, ...] = ()
    places: bool = False
    legend: tuple[tuple[Texture, str], ...] = ()
