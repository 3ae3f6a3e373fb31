"""Random statements: what a body does to the state."""

from tests.model.language.texts.expressions import Expressions
from tests.model.language.texts.scopes import (
    BOOL,
    COLOR,
    ITEM,
    RISK,
    SMALL,
    Int,
    Optional,
    SetOf,
)


class Statements(Expressions):
    """Writes statements."""

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
