"""The intermediate representation: what a system is after its source has been read and typed.

Everything an engine needs is here, small enough to implement in one sitting: the interpreter check,
the native successor function, the Z3 relation and the exports are all derived from these nodes.

Values. Every expression has a scalar type (``types.py``) and computes a whole number:
a bool 0 or 1; an int itself (not its code); an enum member or domain element its number; an optional
0 for ``None``, else 1 + the *code* of the item; a set its bit mask. A column (``columns.py``) stores
codes, so that reading an int column adds ``type.low`` and writing one subtracts it.

Order. Operands are evaluated from left to right; ``And``, ``Or`` and ``Choose`` stop early as in
Python; ``Implies`` does not. An expression can end the whole transition with a model error
(``site``); a function or statement can also end it with a crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from slotproof.model.language.errors import Site
from slotproof.model.language.types import ScalarType

Root = Literal["state", "before", "after"]


@dataclass(frozen=True, slots=True)
class Const:
    """A known value."""

    type: ScalarType
    value: int


@dataclass(frozen=True, slots=True)
class Local:
    """A parameter or local variable; names are unique within an action, property or function."""

    type: ScalarType
    name: str


@dataclass(frozen=True, slots=True)
class Read:
    """One cell of a column, one index a dimension; indices are always inside (see ``SeqItem`` checks)."""

    type: ScalarType
    root: Root
    column: int
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One entry of a constant table (row-major), such as a parameter that is a map."""

    type: ScalarType
    values: tuple[int, ...]
    dims: tuple[int, ...]
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of a bool."""

    type: ScalarType
    item: Expr


@dataclass(frozen=True, slots=True)
class And:
    """True if all items are, tested in order until one is false."""

    type: ScalarType
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True if any item is, tested in order until one is true."""

    type: ScalarType
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Implies:
    """Conclusion if premise; both are evaluated. ``premise_id`` counts into ``Program.premises``."""

    type: ScalarType
    premise: Expr
    conclusion: Expr
    premise_id: int


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two values of one representation (sets: ``==`` and ``!=`` only)."""

    type: ScalarType
    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Arithmetic of ints; ``//`` and ``%`` only by a positive constant, rounding down as in Python."""

    type: ScalarType
    operator: Literal["+", "-", "*", "//", "%"]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Choose:
    """``then if condition else otherwise``; only the chosen side is evaluated."""

    type: ScalarType
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class SetOf:
    """The set of these elements."""

    type: ScalarType
    elements: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SetOperation:
    """Union ``|``, intersection ``&``, difference ``-`` or symmetric difference ``^`` of two sets."""

    type: ScalarType
    operator: Literal["|", "&", "-", "^"]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Member:
    """Whether an element is in a set."""

    type: ScalarType
    element: Expr
    set: Expr


@dataclass(frozen=True, slots=True)
class Subset:
    """Whether every element of the left set is in the right one."""

    type: ScalarType
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Count:
    """The number of elements of a set."""

    type: ScalarType
    set: Expr


@dataclass(frozen=True, slots=True)
class Wrap:
    """A value as an optional that is not ``None``: its code + 1 (for an int, value - low + 1).

    A value that is outside the optional's int range is a model error at ``site`` (if not ``None``).
    """

    type: ScalarType
    item: Expr
    site: int | None


@dataclass(frozen=True, slots=True)
class Unwrap:
    """The value of an optional; ``None`` is a model error at ``site``."""

    type: ScalarType
    item: Expr
    site: int


@dataclass(frozen=True, slots=True)
class Checked:
    """An int as an element (``Adapter(i)``) or as a range: outside ``0 .. size-1``, or outside
    ``low .. high`` for an int type, it is a model error at ``site``. The number stays the same."""

    type: ScalarType
    item: Expr
    site: int


@dataclass(frozen=True, slots=True)
class Retyped:
    """The same number under another type, such as ``a.index``."""

    type: ScalarType
    item: Expr


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers from ``low`` to ``high - 1``, in order."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of a set in order of their numbers; the set is evaluated once, at the start."""

    set: Expr


Source = Span | Elements


@dataclass(frozen=True, slots=True)
class Fold:
    """A comprehension: over each ``variable`` of ``source`` for which ``condition`` holds, of ``body``.

    ``any`` and ``all`` stop early, left to right. ``sum`` adds ints. ``min`` and ``max`` compare by
    number, ``first`` takes the body of the first; of nothing these three give ``default``, or a model
    error at ``site`` where it is ``None``; ``type`` is the type of body and default alike. ``set`` is
    the set of the bodies. ``premise_id`` (of an ``all`` with a condition) counts as in ``Implies``.
    """

    type: ScalarType
    kind: Literal["any", "all", "sum", "min", "max", "first", "set"]
    variable: Local
    source: Source
    condition: Expr | None
    body: Expr
    default: Expr | None
    site: int | None
    premise_id: int | None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of ``Program.functions[function]``; an expression if it returns a value."""

    type: ScalarType
    function: int
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Decide:
    """A call of the alternative that the release has chosen at decision ``point``."""

    type: ScalarType
    point: int
    functions: tuple[int, ...]
    arguments: tuple[Expr, ...]


Expr = (
    Const
    | Local
    | Read
    | Table
    | Not
    | And
    | Or
    | Implies
    | Compare
    | Arithmetic
    | Choose
    | SetOf
    | SetOperation
    | Member
    | Subset
    | Count
    | Wrap
    | Unwrap
    | Checked
    | Retyped
    | Fold
    | Call
    | Decide
)


@dataclass(frozen=True, slots=True)
class Assign:
    """Set a local variable."""

    local: Local
    value: Expr


@dataclass(frozen=True, slots=True)
class Write:
    """Set one cell of a column of the state. With a ``site``, an int that leaves the range is an error."""

    column: int
    indices: tuple[Expr, ...]
    value: Expr
    site: int | None


@dataclass(frozen=True, slots=True)
class If:
    """Run one of two blocks."""

    condition: Expr
    then: Block
    otherwise: Block


@dataclass(frozen=True, slots=True)
class For:
    """Run a block for each ``variable`` of ``source``."""

    variable: Local
    source: Source
    body: Block


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the innermost loop."""


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on with the innermost loop's next round."""


@dataclass(frozen=True, slots=True)
class Return:
    """Leave the function (with a value) or the effect (without)."""

    value: Expr | None


@dataclass(frozen=True, slots=True)
class Do:
    """Call a function for its effect."""

    call: Call | Decide


@dataclass(frozen=True, slots=True)
class Die:
    """Crash with ``Program.crashes[cause]``; what was written so far stays."""

    cause: int


@dataclass(frozen=True, slots=True)
class Fail:
    """A model error at ``site``."""

    site: int


Statement = Assign | Write | If | For | Break | Continue | Return | Do | Die | Fail
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A helper of the model, for one combination of argument types and places in the state."""

    name: str
    parameters: tuple[Local, ...]
    returns: ScalarType | None
    body: Block


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One condition of a guard, or one top-level ``and`` part of a property, with its source."""

    condition: Expr
    site: Site


@dataclass(frozen=True, slots=True)
class Action:
    """An atomic step: enabled for the parameter values that meet every conjunct of its guard."""

    name: str
    parameters: tuple[Local, ...]
    guard: tuple[Conjunct, ...]
    effect: Block


@dataclass(frozen=True, slots=True)
class Property:
    """What must hold in every state (root ``state``) or in every step (roots ``before``, ``after``).

    ``actions`` limits a step property to steps of these actions (``None``: all); ``parameters`` are
    then theirs, in order. ``setup`` is run first; it has no effect on the state.
    """

    name: str
    over: Literal["state", "step"]
    actions: tuple[int, ...] | None
    parameters: tuple[Local, ...]
    setup: Block
    conjuncts: tuple[Conjunct, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """What must happen in the end: every state of a run that meets the premise has one in the run, itself
    or later, that meets the goal; for each value of the parameters. Both are over ``state``.

    ``setup`` is run first; it has no effect on the state.
    """

    name: str
    parameters: tuple[Local, ...]
    setup: Block
    premise: Conjunct
    goal: Conjunct


@dataclass(frozen=True, slots=True)
class FairSets:
    """Sets of steps that do not stay away for ever: one for each value of ``instances``.

    A step of one of ``actions`` is in a set if ``condition`` is true in the state before it. Locals of the
    condition are the instances, and arguments of the step by the parameter's name. ``each`` are parameters
    whose arguments are equal to the instances at the front. ``declared`` counts into the fairness of the
    system, ``steps`` says in words which steps they are.
    """

    declared: int
    strength: Literal["weak", "strong"]
    steps: str
    actions: tuple[int, ...]
    each: tuple[str, ...]
    instances: tuple[Local, ...]
    setup: Block
    condition: Expr


@dataclass(frozen=True, slots=True)
class Witness:
    """A state that the system should be able to reach, if the model is worth anything."""

    name: str
    setup: Block
    condition: Expr


def subexpressions(expression: Expr) -> Iterator[Expr]:
    """The direct operands of an expression, in order of evaluation."""
    match expression:
        case Const() | Local():
            return
        case Read() | Table():
            yield from expression.indices
        case Not() | Wrap() | Unwrap() | Checked() | Retyped():
            yield expression.item
        case And() | Or():
            yield from expression.items
        case Implies():
            yield expression.premise
            yield expression.conclusion
        case Compare() | Arithmetic() | SetOperation() | Subset():
            yield expression.left
            yield expression.right
        case Choose():
            yield expression.condition
            yield expression.then
            yield expression.otherwise
        case SetOf():
            yield from expression.elements
        case Member():
            yield expression.element
            yield expression.set
        case Count():
            yield expression.set
        case Fold():
            if isinstance(expression.source, Elements):
                yield expression.source.set
            if expression.condition is not None:
                yield expression.condition
            yield expression.body
            if expression.default is not None:
                yield expression.default
        case Call() | Decide():
            yield from expression.arguments
