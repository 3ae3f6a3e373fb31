"""Random expressions of a type."""

from collections.abc import Callable

from tests.model.language.texts.scopes import (
    BOOL,
    COLOR,
    ITEM,
    RISK,
    SCALARS,
    SMALL,
    Choices,
    Int,
    Optional,
    Row,
    Scalar,
    SetOf,
)


class Expressions(Choices):
    """Writes expressions."""

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
