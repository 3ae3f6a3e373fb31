"""Random small systems, as the text of a file that a user could write.

Every text is within the language. A few leave the model when they run: ``RISK`` percent of the places
where that is possible are written without a test before.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

RISK = 6

BOOL, COLOR, ITEM = "bool", "Color", "Item"


@dataclass(frozen=True)
class Int:
    """Whole numbers of a range."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"Annotated[int, Range({self.low}, {self.high})]"


@dataclass(frozen=True)
class SetOf:
    """Sets of items or colors."""

    item: str

    def __str__(self) -> str:
        return f"Set[{self.item}]"


@dataclass(frozen=True)
class Optional:
    """A value or none."""

    item: "str | Int | SetOf"

    def __str__(self) -> str:
        return f"{self.item} | None"


Scalar = str | Int | SetOf | Optional

SMALL = Int(0, 2)
SCALARS: list[Scalar] = [
    BOOL,
    COLOR,
    ITEM,
    SMALL,
    Int(-2, 1),
    Int(1, 3),
    SetOf(ITEM),
    SetOf(COLOR),
    Optional(ITEM),
    Optional(COLOR),
    Optional(BOOL),
    Optional(SMALL),
    Optional(SetOf(ITEM)),
]
PARAMETERS: list[Scalar] = [BOOL, COLOR, ITEM, SMALL, Int(-1, 0), SetOf(ITEM), Optional(ITEM)]
INITIAL: dict[Scalar, list[str]] = {
    BOOL: ["False", "True"],
    COLOR: ["Color.RED", "Color.BLUE"],
    ITEM: ["Item(0)", "Item(1)"],
    SetOf(ITEM): ["frozenset()", "frozenset({Item(1)})"],
    SetOf(COLOR): ["frozenset()", "frozenset({Color.BLUE})"],
}


@dataclass(frozen=True)
class Row:
    """A sequence of the state: its path, the type of its items and its capacity."""

    path: str
    item: "Scalar | None"
    """``None`` for records."""
    capacity: int


@dataclass
class Scope:
    """What a body can name: local names by type, and what it may not change."""

    names: list[tuple[str, Scalar]] = field(default_factory=list)
    roots: list[str] = field(default_factory=lambda: ["s"])
    locked: list[str] = field(default_factory=list)
    loops: int = 0
    pure: bool = False
    returns: Scalar | None = None


class Writer:
    """Writes one system, drawing every choice."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self.draw = draw
        self.fresh = 0
        self.places: list[tuple[str, Scalar]] = []
        """Paths below the state, with ``{Item}`` and ``{Color}`` where a key stands."""
        self.rows: list[Row] = []
        self.records: list[str] = []
        self.helpers: list[tuple[str, Scalar, Scalar]] = []
        self.procedures: list[str] = []
        self.crashes = 0
        self.scope = Scope()

    # -- choices -----------------------------------------------------------------------------------

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def pick(self, options: list[str]) -> str:
        return options[self.number(0, len(options) - 1)]

    def scalar(self, options: list[Scalar]) -> Scalar:
        return options[self.number(0, len(options) - 1)]

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    @contextmanager
    def inside(self, **changes: Any) -> Iterator[None]:
        """A scope within the present one: names that are added inside are gone after it."""
        outer = self.scope
        values: dict[str, Any] = {
            **vars(outer),
            "names": list(outer.names),
            "locked": list(outer.locked),
            **changes,
        }
        self.scope = Scope(**values)
        try:
            yield
        finally:
            self.scope = outer

    # -- expressions -------------------------------------------------------------------------------

    def known(self, type_: Scalar) -> list[str]:
        """Names and paths that have this type."""
        found = [n for n, t in self.scope.names if t == type_]
        for root in self.scope.roots:
            found += [f"{root}.{path}" for path, t in self.places if t == type_]
        return found

    def keyed(self, path: str, depth: int) -> str:
        """A path with keys."""
        while "{Item}" in path:
            path = path.replace("{Item}", self.value(ITEM, depth - 1), 1)
        while "{Color}" in path:
            path = path.replace("{Color}", self.value(COLOR, depth - 1), 1)
        return path

    def value(self, type_: Scalar, depth: int) -> str:
        """An expression of a type. Numbers may lie outside the range."""
        known = self.known(type_)
        if isinstance(type_, Int):
            known = [k for t in (SMALL, Int(-2, 1), Int(1, 3), type_) for k in self.known(t)]
        if depth <= 0:
            known = [k for k in known if "{" not in k]
        if known and (depth <= 0 or self.chance(55)):
            return self.keyed(self.pick(known), depth)
        if depth > 0 and type_ != Optional(SMALL) and self.chance(12):
            condition, then = self.value(BOOL, depth - 1), self.value(type_, depth - 1)
            otherwise = self.constant(type_) if then == "None" else self.value(type_, depth - 1)
            return f"({then} if {condition} else {otherwise})"
        helpers = [
            (n, p)
            for n, p, r in self.helpers
            if r == type_ or (isinstance(r, Int) and isinstance(type_, Int))
        ]
        if helpers and depth > 0 and self.chance(25) and "s" in self.scope.roots:
            helper, parameter = helpers[self.number(0, len(helpers) - 1)]
            return f"{helper}(s, {self.value(parameter, depth - 1)})"
        if depth <= 0:
            return self.constant(type_)
        if isinstance(type_, Optional):
            return self.optional(type_, depth)
        optional = Optional(type_)
        if type_ in (BOOL, COLOR, ITEM, SMALL) and self.known(optional) and self.chance(15):
            return self.some(optional, depth)
        if type_ == BOOL:
            return self.boolean(depth)
        if type_ == COLOR:
            return self.color(depth)
        if type_ == ITEM:
            return self.item(depth)
        if isinstance(type_, SetOf):
            return self.set(type_, depth)
        return self.integer(depth)

    def constant(self, type_: Scalar) -> str:
        match type_:
            case Int():
                return str(self.number(type_.low, type_.high))
            case Optional():
                return self.constant(type_.item)
            case SetOf():
                return "{" + self.constant(type_.item) + "}"
            case _:
                options = {
                    BOOL: ["True", "False"],
                    COLOR: ["Color.RED", "Color.BLUE"],
                    ITEM: ["Item(0)", "Item(1)"],
                }
                return self.pick(options[type_])

    def some(self, type_: Optional, depth: int) -> str:
        """The value of an optional, mostly after a test."""
        inner = self.keyed(self.pick(self.known(type_)), depth)
        if self.chance(RISK):
            return f"some({inner})"
        return f"(some({inner}) if {inner} is not None else {self.value(type_.item, depth - 1)})"

    def optional(self, type_: Optional, depth: int) -> str:
        if self.chance(30):
            return "None"
        if type_.item == SMALL:
            return self.ranged(SMALL, depth)
        return self.value(type_.item, depth)

    def ranged(self, type_: Int, depth: int) -> str:
        """A number that is mostly within its range."""
        value = self.value(type_, depth)
        return value if self.chance(RISK) else f"max({type_.low}, min({type_.high}, {value}))"

    def rows_read(self) -> list[tuple[str, Row]]:
        return [(f"{root}.{row.path}", row) for root in self.scope.roots for row in self.rows]

    def over(self, depth: int) -> tuple[str, Scalar]:
        """What a comprehension or loop goes through, and the type of its variable."""
        options: list[tuple[str, Scalar]] = [("Item", ITEM), ("Color", COLOR)]
        options += [(path, r.item) for path, r in self.rows_read() if r.item is not None]
        choice = self.number(0, len(options) + 1)
        if choice < len(options):
            path, type_ = options[choice]
            return self.keyed(path, depth), type_
        if choice == len(options):
            return self.value(SetOf(ITEM), depth - 1), ITEM
        return f"range({self.number(1, 3)})", SMALL

    def comprehension(self, result: Callable[[], str], depth: int) -> str:
        """``x for v in … if …``, with what ``result`` writes for x."""
        over, type_ = self.over(depth)
        variable = self.name("v")
        with self.inside(names=[*self.scope.names, (variable, type_)]):
            value = result()
            condition = f" if {self.value(BOOL, depth - 1)}" if self.chance(50) else ""
        return f"{value} for {variable} in {over}{condition}"

    def boolean(self, depth: int) -> str:
        d = depth - 1
        match self.number(0, 12):
            case 0:
                return f"(not {self.value(BOOL, d)})"
            case 1:
                return f"({self.value(BOOL, d)} and {self.value(BOOL, d)})"
            case 2:
                return f"({self.value(BOOL, d)} or {self.value(BOOL, d)})"
            case 3 | 4:
                operator = self.pick(["<", "<=", "==", "!=", ">", ">="])
                chain = f" < {self.value(SMALL, d)}" if self.chance(20) else ""
                return f"({self.value(SMALL, d)} {operator} {self.value(SMALL, d)}{chain})"
            case 5:
                type_ = self.scalar([ITEM, COLOR, SetOf(ITEM), BOOL])
                return f"({self.value(type_, d)} {self.pick(['==', '!='])} {self.value(type_, d)})"
            case 6:
                return f"({self.value(ITEM, d)} {self.pick(['<', '<=', '>', '>='])} {self.value(ITEM, d)})"
            case 7:
                item = self.pick([ITEM, COLOR])
                return f"({self.value(item, d)} {self.pick(['in', 'not in'])} {self.value(SetOf(item), d)})"
            case 8:
                operator = self.pick(["<=", "<", ">=", "=="])
                return f"({self.value(SetOf(ITEM), d)} {operator} {self.value(SetOf(ITEM), d)})"
            case 9:
                return f"{self.pick(['any', 'all'])}({self.comprehension(lambda: self.value(BOOL, d), d)})"
            case 10:
                optional = self.scalar([o for o in SCALARS if isinstance(o, Optional)])
                assert isinstance(optional, Optional)
                if not self.known(optional):
                    return f"({self.value(SMALL, d)} in ({self.value(SMALL, d)}, {self.value(SMALL, d)}))"
                left = self.keyed(self.pick(self.known(optional)), d)
                if self.chance(50):
                    return f"({left} {self.pick(['is None', 'is not None'])})"
                return f"({left} {self.pick(['==', '!='])} {self.value(optional.item, d)})"
            case 11:
                rows = [(p, r) for p, r in self.rows_read() if r.item is not None]
                if not rows:
                    return f"implies({self.value(BOOL, d)}, {self.value(BOOL, d)})"
                path, row = rows[self.number(0, len(rows) - 1)]
                assert row.item is not None
                return f"({self.value(row.item, d)} in {self.keyed(path, d)})"
            case _:
                return f"(len({self.value(SetOf(ITEM), d)}) {self.pick(['==', '>'])} {self.number(0, 2)})"

    def integer(self, depth: int) -> str:
        d = depth - 1
        match self.number(0, 10):
            case 0 | 1:
                return f"({self.value(SMALL, d)} {self.pick(['+', '-'])} {self.value(SMALL, d)})"
            case 2:
                return f"({self.value(SMALL, d)} * {self.number(-2, 2)})"
            case 3:
                return f"({self.value(SMALL, d)} {self.pick(['//', '%'])} {self.number(1, 3)})"
            case 4:
                return f"{self.pick(['min', 'max'])}({self.value(SMALL, d)}, {self.value(SMALL, d)})"
            case 5:
                return f"sum({self.comprehension(lambda: self.value(SMALL, d), d)})"
            case 6:
                inner = self.comprehension(lambda: self.value(SMALL, d), d)
                default = "" if self.chance(RISK) else f", default={self.value(SMALL, d)}"
                return f"{self.pick(['min', 'max'])}(({inner}){default})"
            case 7:
                return f"{self.value(ITEM, d)}.index"
            case 8:
                return f"len({self.value(SetOf(self.pick([ITEM, COLOR])), d)})"
            case 9 if self.rows and self.scope.roots:
                paths = [path for path, _ in self.rows_read()]
                return f"len({self.keyed(self.pick(paths), d)})"
            case _:
                return f"(-{self.value(SMALL, d)})"

    def color(self, depth: int) -> str:
        d = depth - 1
        if self.chance(50):
            condition = self.value(BOOL, d)
            return f"next((v0 for v0 in Color if v0 != Color.RED and {condition}), {self.value(COLOR, d)})"
        return self.constant(COLOR)

    def item(self, depth: int) -> str:
        d = depth - 1
        match self.number(0, 3):
            case 0:
                return f"Item({self.value(SMALL, d)} % len(Item))"
            case 1:
                variable = self.name("v")
                with self.inside(names=[*self.scope.names, (variable, ITEM)]):
                    condition = self.value(BOOL, d)
                over = self.value(SetOf(ITEM), d) if self.chance(40) else "Item"
                default = "" if self.chance(RISK) else f", {self.value(ITEM, d)}"
                return f"next(({variable} for {variable} in {over} if {condition}){default})"
            case 2:
                default = "" if self.chance(RISK) else f", default={self.value(ITEM, d)}"
                return f"{self.pick(['min', 'max'])}({self.value(SetOf(ITEM), d)}{default})"
            case _:
                if self.chance(RISK):
                    return f"Item(0 + {self.value(SMALL, d)})"
                return self.constant(ITEM)

    def set(self, type_: SetOf, depth: int) -> str:
        d = depth - 1
        match self.number(0, 4):
            case 0:
                return f"{{{self.value(type_.item, d)}, {self.value(type_.item, d)}}}"
            case 1 | 2:
                operator = self.pick(["|", "&", "-", "^"])
                return f"({self.value(type_, d)} {operator} {self.value(type_, d)})"
            case 3:
                return "{" + self.comprehension(lambda: self.value(type_.item, d), d) + "}"
            case _:
                return f"{{{self.value(type_.item, d)}}}"

    # -- statements --------------------------------------------------------------------------------

    def block(self, depth: int, most: int = 3) -> list[str]:
        """Some statements, each line indented as it stands in the block."""
        lines: list[str] = []
        with self.inside():
            for _ in range(self.number(1, most)):
                written = self.statement(depth)
                lines += written
                if written and written[-1].startswith(("return", "break", "continue", "crash")):
                    break
        return lines

    def nested(self, lines: list[str]) -> list[str]:
        return [f"    {line}" for line in lines]

    def statement(self, depth: int) -> list[str]:
        choice = self.number(0, 11)
        if choice <= 3 or depth <= 0:
            return self.assignment(depth) if not self.scope.pure else self.local(depth)
        match choice:
            case 4:
                return self.local(depth)
            case 5 | 6:
                return self.branch(depth)
            case 7:
                return self.loop(depth)
            case 8 | 9 if not self.scope.pure:
                return self.on_row(depth)
            case 10 if not self.scope.pure and self.records:
                record = self.pick(self.records)
                if self.chance(50):
                    return [f"reset(s.{record})"]
                return [
                    f"s.{record} = Part(color={self.value(COLOR, depth - 1)}, "
                    f"weight={self.ranged(SMALL, depth - 1)})"
                ]
            case 11 if self.procedures and not self.scope.pure and not self.scope.locked:
                return [f"{self.pick(self.procedures)}(s, {self.value(ITEM, depth - 1)})"]
            case _:
                return self.local(depth)

    def assignment(self, depth: int) -> list[str]:
        path, type_ = self.places[self.number(0, len(self.places) - 1)]
        target = "s." + self.keyed(path, 1)
        if isinstance(type_, Int):
            if self.chance(RISK):
                return [f"{target} {self.pick(['+=', '-='])} {self.value(type_, depth - 1)}"]
            return [f"{target} = {self.ranged(type_, depth)}"]
        if isinstance(type_, SetOf):
            if self.chance(10):
                return [f"{target} = set()"]
            return [f"{target} {self.pick(['=', '|=', '-=', '&=', '^='])} {self.value(type_, depth)}"]
        return [f"{target} = {self.value(type_, depth)}"]

    def local(self, depth: int) -> list[str]:
        type_ = self.scalar([BOOL, COLOR, ITEM, SMALL, SetOf(ITEM), Optional(ITEM), Optional(SMALL)])
        own = [n for n, t in self.scope.names if t == type_ and n.startswith("x")]
        value = self.ranged(SMALL, depth) if type_ == SMALL else self.value(type_, depth)
        if own and self.chance(50):
            return [f"{self.pick(own)} = {value}"]
        name = self.name("x")
        self.scope.names.append((name, type_))
        annotation = f": {type_}" if isinstance(type_, Optional | SetOf) or self.chance(20) else ""
        return [f"{name}{annotation} = {value}"]

    def branch(self, depth: int) -> list[str]:
        lines = [f"if {self.value(BOOL, depth)}:", *self.nested(self.ending(depth - 1))]
        if self.chance(25):
            lines += [f"elif {self.value(BOOL, depth - 1)}:", *self.nested(self.block(depth - 1, 2))]
        if self.chance(40):
            lines += ["else:", *self.nested(self.block(depth - 1, 2))]
        return lines

    def ending(self, depth: int) -> list[str]:
        """A block that may end the loop, the action or the program."""
        if self.chance(60):
            return self.block(depth, 2)
        lines = self.block(depth, 1) if self.chance(50) else []
        if lines and lines[-1].lstrip().startswith(("return", "break", "continue", "crash")):
            return lines
        ends = []
        if self.scope.loops:
            ends += ["break", "continue"]
        if self.scope.returns is not None:
            ends += [f"return {self.returned(1)}"]
        elif not self.scope.pure:
            ends += ["return", "return"]
            if self.crashes < 2:
                ends.append(f'crash("{self.pick(["one", "two"])}")')
        return [*lines, self.pick(ends)] if ends else lines or self.block(depth, 1)

    def returned(self, depth: int) -> str:
        type_ = self.scope.returns
        assert type_ is not None
        return self.value(type_, depth)

    def loop(self, depth: int) -> list[str]:
        over, type_ = self.over(depth)
        variable = self.name("v")
        locked = [
            *self.scope.locked,
            *(r.path for p, r in self.rows_read() if over.startswith(p.split("[")[0])),
        ]
        names = [*self.scope.names, (variable, type_)]
        with self.inside(names=names, locked=locked, loops=self.scope.loops + 1):
            body = self.block(depth - 1, 2)
        return [f"for {variable} in {over}:", *self.nested(body)]

    def on_row(self, depth: int) -> list[str]:
        """A change of a sequence, mostly after a test."""
        rows = [r for r in self.rows if r.path not in self.scope.locked]
        if not rows:
            return self.assignment(depth)
        row = rows[self.number(0, len(rows) - 1)]
        path = "s." + self.keyed(row.path, 1)
        d = depth - 1
        if row.item is None:
            item = f"Part(color={self.value(COLOR, d)}, weight={self.ranged(SMALL, d)})"
        else:
            item = self.ranged(row.item, d) if isinstance(row.item, Int) else self.value(row.item, d)
        index = self.number(0, row.capacity - 1)
        match self.number(0, 7):
            case 0 | 1 | 2:
                test, change = f"len({path}) < {row.capacity}", f"{path}.append({item})"
            case 3:
                test = f"{index} <= len({path}) < {row.capacity}"
                change = f"{path}.insert({index}, {item})"
            case 4:
                item_type = row.item
                wanted = (
                    [item_type]
                    if isinstance(item_type, Optional)
                    else [item_type, Optional(item_type or BOOL)]
                )
                targets = [p for p, t in self.places if t in wanted]
                target = (
                    f"s.{self.keyed(self.pick(targets), 0)} = " if targets and row.item is not None else ""
                )
                test, change = f"len({path}) > {index}", f"{target}{path}.pop({index})"
            case 5 if row.item is not None:
                test, change = f"{item} in {path}", f"{path}.remove({item})"
            case 6 if row.item is not None:
                test, change = f"len({path}) > {index}", f"{path}[{index}] = {item}"
            case _:
                variable = self.name("v")
                names = [(n, t) for n, t in self.scope.names]
                if row.item is not None:
                    names.append((variable, row.item))
                hidden = self.rows
                self.rows, helpers, self.helpers = [], self.helpers, []
                with self.inside(names=names):
                    condition = self.value(BOOL, d)
                self.rows, self.helpers = hidden, helpers
                if row.item is None:
                    condition = f"{variable}.weight > 0 and {condition}"
                kept = f"[{variable} for {variable} in {path} if {condition}]"
                whole = self.pick([path, f"{path}[:]"])
                return [
                    self.pick(
                        [*[f"{whole} = {x}" for x in (kept, kept, f"[{item}]", "[]")], f"{path}.clear()"]
                    )
                ]
        if self.chance(RISK):
            return [change]
        return [f"if {test}:", f"    {change}"]

    # -- the parts of a system ---------------------------------------------------------------------

    def state(self) -> list[str]:
        lines = []
        for number in range(self.number(2, 3)):
            name = f"f{number}"
            kind = self.number(0, 13)
            type_ = self.scalar(SCALARS)
            shown: object = type_
            initial = self.first(type_)
            declared = "output" if self.chance(12) else "field"
            if kind <= 6:
                self.places.append((name, type_))
            elif kind == 7:
                key = self.pick([ITEM, COLOR])
                shown = f"Map[{key}, {type_}]"
                self.places.append((f"{name}[{{{key}}}]", type_))
            elif kind == 8:
                shown = "Map[Color, Map[Item, bool]]"
                initial = "False"
                self.places.append((f"{name}[{{Color}}][{{Item}}]", BOOL))
            elif kind in (9, 10):
                item: Scalar = self.scalar([ITEM, COLOR, BOOL, Int(1, 3), Optional(ITEM)])
                capacity = self.number(1, 2)
                shown, initial, declared = f"Annotated[Seq[{item}], Capacity({capacity})]", "()", "field"
                self.rows.append(Row(name, item, capacity))
            elif kind == 11:
                shown, initial, declared = "Annotated[Seq[Part], Capacity(2)]", "()", "field"
                self.rows.append(Row(name, None, 2))
            elif kind == 12:
                lines.append(f"    {name}: Part")
                self.records.append(name)
                self.places += [(f"{name}.color", COLOR), (f"{name}.weight", SMALL)]
                continue
            else:
                lines.append(f"    {name}: Map[Item, Part]")
                self.records.append(f"{name}[Item(0)]")
                self.places += [(f"{name}[{{Item}}].color", COLOR), (f"{name}[{{Item}}].weight", SMALL)]
                continue
            lines.append(f'    {name}: {shown} = {declared}({initial}, "a variable")')
        if not self.places:
            self.places.append(("spare", BOOL))
            lines.append('    spare: bool = field(False, "a variable")')
        return ["class S(State):", *lines, ""]

    def first(self, type_: Scalar) -> str:
        match type_:
            case Int():
                return str(self.number(type_.low, type_.high))
            case Optional():
                return "None"
            case _:
                return self.pick(INITIAL[type_])

    def helper(self) -> list[str]:
        name = self.name("helper")
        parameter = self.scalar([ITEM, SMALL, COLOR, Optional(ITEM)])
        result = self.scalar([BOOL, SMALL, ITEM, SetOf(ITEM), COLOR])
        annotation = "int" if isinstance(parameter, Int) else parameter
        shown = "int" if isinstance(result, Int) else result
        with self.inside(names=[("p", parameter)], pure=True, returns=result):
            lines = self.block(2) if self.chance(60) else []
            lines = [line for line in lines if not line.startswith("return")]
            lines.append(f"return {self.value(result, 2)}")
        self.helpers.append((name, parameter, result))
        return [f"def {name}(s: S, p: {annotation}) -> {shown}:", *self.nested(lines), ""]

    def procedure(self) -> list[str]:
        name = self.name("procedure")
        with self.inside(names=[("p", ITEM)]):
            lines = self.block(2)
        self.procedures.append(name)
        return [f"def {name}(s: S, p: Item) -> None:", *self.nested(lines), ""]

    def choice(self) -> list[str]:
        """A decision with two alternatives."""
        result = self.scalar([BOOL, SMALL])
        shown = "int" if isinstance(result, Int) else result
        lines = ["@decision", f"def decided(s: S, p: Item) -> {shown}:", "    '''A choice.'''", ""]
        for name in ("first", "second"):
            with self.inside(names=[("p", ITEM)], pure=True):
                lines += [f"def {name}(s: S, p: Item) -> {shown}:", f"    return {self.value(result, 2)}", ""]
        self.helpers.append(("decided", ITEM, result))
        return lines

    def parameters(self, most: int) -> list[tuple[str, Scalar]]:
        return [(f"a{i}", self.scalar(PARAMETERS)) for i in range(self.number(most - 1, most))]

    def action(self, name: str, mark: str = "action") -> list[str]:
        parameters = self.parameters(1 if mark == "initial" else 2)
        signature = ", ".join(["s: S", *(f"{n}: {t}" for n, t in parameters)])
        with self.inside(names=list(parameters)):
            lines = []
            for _ in range(self.number(0, 3) // 2):
                second = f", {self.value(BOOL, 1)}" if self.chance(20) else ""
                lines.append(f"require({self.value(BOOL, 2)}{second})")
            self.crashes = 2 if mark == "initial" else 0
            lines += self.block(2)
        return [f"@{mark}", f"def {name}({signature}) -> None:", *self.nested(lines), ""]

    def driver(self) -> list[str]:
        """An action that gives some variable any value, so that there is something to see."""
        path, type_ = self.places[self.number(0, len(self.places) - 1)]
        lines = ["@action", f"def drive(s: S, a: {type_}) -> None:"]
        if self.chance(30):
            with self.inside(names=[("a", type_)]):
                lines.append(f"    require({self.value(BOOL, 1)})")
        return [*lines, f"    s.{self.keyed(path, 0)} = a", ""]

    def judgement(self, name: str, signature: str, roots: list[str], setup: bool = True) -> list[str]:
        with self.inside(names=[], roots=roots, pure=True):
            lines = self.local(1) if setup and self.chance(30) else []
            condition = " and ".join(self.value(BOOL, 2) for _ in range(self.number(1, 2)))
        return [f"def {name}({signature}) -> bool:", *self.nested([*lines, f"return {condition}"]), ""]

    def system(self) -> str:
        lines = self.state()
        for _ in range(self.number(0, 2)):
            lines += self.helper()
        decided = self.chance(25)
        if decided:
            lines += self.choice()
        if self.chance(25):
            lines += self.procedure()
        actions = [f"act{i}" for i in range(self.number(2, 3))]
        for name in actions:
            lines += self.action(name)
        if self.chance(75):
            lines += self.driver()
            actions.append("drive")
        initial = self.chance(30)
        if initial:
            lines += self.action("begin", "initial")
        properties = [f"good{i}" for i in range(self.number(0, 3))]
        for name in properties:
            if self.chance(60):
                lines += ["@invariant", *self.judgement(name, "s: S", ["s"])]
            else:
                mark = f"@step_invariant(on={self.pick(actions)})" if self.chance(40) else "@step_invariant"
                lines += [mark, *self.judgement(name, "before: S, after: S", ["before", "after"])]
        final = "may_stop" if self.chance(50) else "None"
        if final != "None":
            lines += self.judgement(final, "s: S", ["s"], setup=False)
        decisions = "[Alternatives(decided, first, second)]" if decided else "[]"
        choices = f'{{"decided": "{self.pick(["first", "second"])}"}}' if decided else "{}"
        lines += [
            "system = System(",
            '    "random",',
            "    S,",
            f"    actions=[{', '.join(actions)}],",
            f"    initial=[{'begin' if initial else ''}],",
            f"    properties=[{', '.join(properties)}],",
            f"    final={final},",
            f"    decisions={decisions},",
            f"    choices={choices},",
            ")",
        ]
        return HEADER + "\n".join(lines) + "\n"


HEADER = '''\
import enum
from slotproof.model.language import *

count = parameter("count", int, 2, "how many items there are")

class Item(Domain, size=count, names="i{n}"):
    """An item."""

class Color(enum.Enum):
    """A color."""

    RED = "red"
    BLUE = "blue"

class Part(Record):
    """A part."""

    color: Color = field(Color.RED, "its color")
    weight: Annotated[int, Range(0, 2)] = field(0, "its weight")

'''


@st.composite
def systems(draw: st.DrawFn) -> str:
    """The text of a file that defines ``system``."""
    return Writer(draw).system()
