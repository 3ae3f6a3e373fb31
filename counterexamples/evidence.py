"""Why a condition is false: its value, and the cells of the state that made it so.

Conditions are evaluated in the IR with the facts that justify each value: of a false ``all`` only the
instance that fails counts, of a false ``and`` only the false side. What could not have changed the
result is left out, so that a person reads a few lines instead of the state.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slotproof.counterexamples.encoding import in_words, names
from slotproof.model.language import ir
from slotproof.model.language.columns import Column, Valuation
from slotproof.model.language.errors import ModelError
from slotproof.model.language.program import Program
from slotproof.model.language.types import IntType, OptionalType, ScalarType
from slotproof.model.language.walk import statements_of

Facts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The value of an expression (as the IR represents it) and the facts that it rests on, each once."""

    value: int
    facts: Facts = ()


class Returned(Exception):
    def __init__(self, found: Found | None) -> None:
        self.found = found


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


@dataclass
class Evidence:
    """Evaluates expressions of a program under one choice vector on the states by root."""

    program: Program
    choices: tuple[int, ...]
    states: Mapping[ir.Root, Valuation]
    _rooted: bool = field(init=False)
    _because: Facts = field(default=(), init=False)
    """The facts that led to the statement that is run; a function called there rests on them."""

    def __post_init__(self) -> None:
        self._rooted = len(self.states) > 1

    def conjuncts(self, prop: ir.Property, arguments: Sequence[int]) -> list[Found]:
        """The value of each conjunct of a property, given the values of the action's parameters."""
        local = {p.name: Found(v) for p, v in zip(prop.parameters, arguments, strict=True)}
        try:
            self._run(prop.setup, local)
        except Returned as early:
            found = early.found or Found(1)
            return [found for _ in prop.conjuncts]
        return [self.value(c.condition, local) for c in prop.conjuncts]

    def witness(self, witness: ir.Witness) -> Found:
        """The value of a witness."""
        local: dict[str, Found] = {}
        try:
            self._run(witness.setup, local)
        except Returned as early:
            return early.found or Found(1)
        return self.value(witness.condition, local)

    def value(self, e: ir.Expr, local: dict[str, Found]) -> Found:
        """The value of an expression under these local variables."""
        match e:
            case ir.Const():
                return Found(e.value)
            case ir.Local():
                return local[e.name]
            case ir.Read():
                return self._read(e, local)
            case ir.And() | ir.Or():
                return self._junction(e, local)
            case ir.Choose():
                condition = self.value(e.condition, local)
                chosen = self.value(e.then if condition.value else e.otherwise, local)
                return Found(chosen.value, _joined(condition.facts, chosen.facts))
            case ir.Fold():
                return self._fold(e, local)
            case ir.Call() | ir.Decide():
                return self._call(self._called(e), e.arguments, local)
        parts = [self.value(x, local) for x in ir.subexpressions(e)]
        return Found(self._operation(e, [p.value for p in parts]), _joined(*(p.facts for p in parts)))

    def _operation(self, e: ir.Expr, of: list[int]) -> int:
        match e:
            case ir.Table():
                return e.values[_flat(of, e.dims)]
            case ir.Not():
                return int(not of[0])
            case ir.Implies():
                return int(not of[0] or bool(of[1]))
            case ir.Compare():
                return int(_COMPARE[e.operator](of[0], of[1]))
            case ir.Arithmetic():
                return _ARITHMETIC[e.operator](of[0], of[1])
            case ir.SetOperation():
                return _SETS[e.operator](of[0], of[1])
            case ir.SetOf():
                return sum({1 << x for x in of})
            case ir.Member():
                return of[1] >> of[0] & 1
            case ir.Subset():
                return int(of[0] & ~of[1] == 0)
            case ir.Count():
                return of[0].bit_count()
            case ir.Wrap():
                item = e.type.item if isinstance(e.type, OptionalType) else e.type
                return of[0] - item.low + 1
            case ir.Unwrap():
                if of[0] == 0:
                    raise ModelError("an empty optional is read", self.program.sites[e.site])
                return of[0] - 1 + e.type.low
            case ir.Checked() | ir.Retyped():
                return of[0]
        raise NotImplementedError(f"evidence: no meaning for {type(e).__name__}")

    def _read(self, e: ir.Read, local: dict[str, Found]) -> Found:
        column = self.program.columns[e.column]
        indices = [self.value(i, local) for i in e.indices]
        at = [i.value for i in indices]
        code = self.states[e.root][column.offset + _flat(at, column.dims)]
        value = code + column.type.low
        where = f"{e.root}: " if self._rooted else ""
        fact = f"{where}{cell(column, at)} = {shown(column.type, value)}"
        return Found(value, _joined(*(i.facts for i in indices), (fact,)))

    def _junction(self, e: ir.And | ir.Or, local: dict[str, Found]) -> Found:
        deciding = int(isinstance(e, ir.Or))
        seen: list[Facts] = []
        for item in e.items:
            found = self.value(item, local)
            if found.value == deciding:
                return found
            seen.append(found.facts)
        return Found(1 - deciding, _joined(*seen))

    def _fold(self, e: ir.Fold, local: dict[str, Found]) -> Found:
        numbers, seen = self.source(e.source, local)
        bodies: list[int] = []
        collected: list[Facts] = [seen]
        for number in numbers:
            inner = {**local, e.variable.name: Found(number)}
            condition = Found(1) if e.condition is None else self.value(e.condition, inner)
            if not condition.value:
                collected.append(condition.facts)
                continue
            body = self.value(e.body, inner)
            facts = _joined(condition.facts, body.facts)
            decides = (e.kind == "any" and body.value) or (e.kind == "all" and not body.value)
            if decides:
                # Which item of a sequence it is stands in the facts themselves.
                name, type_ = e.variable.name.split(".")[0], e.variable.type
                instance = () if isinstance(type_, IntType) else (f"{name} = {shown(type_, number)}",)
                return Found(body.value, _joined(instance, seen, facts))
            if e.kind == "first":
                return Found(body.value, _joined(*collected, facts))
            bodies.append(body.value)
            collected.append(facts)
        facts = _joined(*collected)
        match e.kind:
            case "any" | "all":
                return Found(int(e.kind == "all"), facts)
            case "sum":
                return Found(sum(bodies), facts)
            case "set":
                return Found(sum({1 << b for b in bodies}), facts)
        if bodies:
            return Found(min(bodies) if e.kind == "min" else max(bodies), facts)
        if e.default is None:
            raise ModelError("nothing to choose from", None if e.site is None else self.program.sites[e.site])
        default = self.value(e.default, local)
        return Found(default.value, _joined(facts, default.facts))

    def source(self, source: ir.Source, local: dict[str, Found]) -> tuple[Iterable[int], Facts]:
        """What a loop or comprehension goes through, and the facts that this rests on."""
        if isinstance(source, ir.Span):
            return range(source.low, source.high), ()
        found = self.value(source.set, local)
        return [i for i in range(found.value.bit_length()) if found.value >> i & 1], found.facts

    def _called(self, e: ir.Call | ir.Decide) -> int:
        """The number of the function that a call runs."""
        return e.function if isinstance(e, ir.Call) else e.functions[self.choices[e.point]]

    def _call(self, function: int, arguments: tuple[ir.Expr, ...], local: dict[str, Found]) -> Found:
        called = self.program.functions[function]
        inner = {p.name: self.value(a, local) for p, a in zip(called.parameters, arguments, strict=True)}
        because = self._because
        try:
            self._run(called.body, inner, because)
        except Returned as result:
            return result.found or Found(0)
        finally:
            self._because = because
        return Found(0)

    def _run(self, block: ir.Block, local: dict[str, Found], because: Facts = ()) -> None:
        """Run statements; ``because`` are the facts that led here and that a result also rests on."""
        for statement in block:
            self._because = because
            match statement:
                case ir.Assign():
                    found = self.value(statement.value, local)
                    local[statement.local.name] = Found(found.value, _joined(because, found.facts))
                case ir.If():
                    condition = self.value(statement.condition, local)
                    inside = _joined(because, condition.facts)
                    self._run(statement.then if condition.value else statement.otherwise, local, inside)
                    if leaves(statement):  # what follows rests on its not having left
                        because = inside
                case ir.For():
                    self._loop(statement, local, because)
                case ir.Break():
                    raise _Break
                case ir.Continue():
                    raise _Continue
                case ir.Return():
                    found = Found(0) if statement.value is None else self.value(statement.value, local)
                    raise Returned(Found(found.value, _joined(because, found.facts)))
                case ir.Do():
                    self.value(statement.call, local)
                case ir.Write():
                    self._write(statement, local, because)
                case ir.Die():
                    self._die(statement, because)
                case ir.Fail():
                    raise ModelError(
                        "the model does not say what happens here", self.program.sites[statement.site]
                    )

    def _write(self, statement: ir.Write, local: dict[str, Found], because: Facts) -> None:
        raise NotImplementedError("evidence: a property writes nothing")

    def _die(self, statement: ir.Die, because: Facts) -> None:
        raise NotImplementedError("evidence: a property does not crash")

    def _loop(self, loop: ir.For, local: dict[str, Found], because: Facts) -> None:
        numbers, seen = self.source(loop.source, local)
        for number in numbers:
            local[loop.variable.name] = Found(number)
            try:
                self._run(loop.body, local, _joined(because, seen))
            except _Break:
                return
            except _Continue:
                continue


def leaves(statement: ir.If) -> bool:
    """Whether a branch may leave the block that it stands in."""
    jumps = (ir.Return, ir.Break, ir.Continue, ir.Die)
    return any(isinstance(s, jumps) for s in statements_of((*statement.then, *statement.otherwise)))


def cell(column: Column, indices: Sequence[int]) -> str:
    """The name of a cell with its keys filled in: ``loader.copied[A]``, ``queue[0].kind``."""
    text = ""
    keys, at = iter(column.keys), iter(indices)
    rest = column.name
    while rest:
        if rest.startswith("[]"):
            text += f"[{names(next(keys))[next(at)]}]"
            rest = rest[2:]
        elif rest.startswith("[#]"):
            text += f"[{next(at)}]"
            rest = rest[3:]
        else:
            text += rest[0]
            rest = rest[1:]
    return f"len({text.removesuffix('.len')})" if text.endswith(".len") else text


def different_cells(
    column: Column, left: Sequence[int], right: Sequence[int]
) -> Iterator[tuple[str, str, str]]:
    """The cells of a column in which two states differ, of the column's codes: name and both values."""
    low = column.type.low
    for place, (one, other) in enumerate(zip(left, right, strict=True)):
        if one != other:
            indices: list[int] = []
            for size in reversed(column.dims):
                place, index = divmod(place, size)
                indices.insert(0, index)
            yield cell(column, indices), shown(column.type, one + low), shown(column.type, other + low)


def shown(type_: ScalarType, value: int) -> str:
    """A value, as the IR represents it, in a person's words."""
    return in_words(type_.decode(value - type_.low))


def _flat(indices: Sequence[int], dims: Sequence[int]) -> int:
    flat = 0
    for index, size in zip(indices, dims, strict=True):
        flat = flat * size + index
    return flat


def _joined(*lists: Facts) -> Facts:
    return tuple(dict.fromkeys(fact for facts in lists for fact in facts))


_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}
_SETS: Mapping[str, Callable[[int, int], int]] = {
    "|": operator.or_,
    "&": operator.and_,
    "-": lambda a, b: a & ~b,
    "^": operator.xor,
}
