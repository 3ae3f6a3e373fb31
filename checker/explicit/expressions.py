"""From expressions of the IR to LLVM IR.

A number is an ``i64``, a truth value an ``i1``. An early end stores its cause in the frame's status
and jumps to the frame's ``unwind`` block: positive one more than a crash's cause, negative minus one
more than an error's site.
"""

from __future__ import annotations

from collections.abc import Callable

from slotproof.checker.explicit.assembly import Assembly
from slotproof.checker.explicit.context import Slots
from slotproof.checker.explicit.failing import Failing, notes, overflows
from slotproof.model.language.bind import WIDE
from slotproof.model.language.ir import (
    And,
    Arithmetic,
    Call,
    Checked,
    Choose,
    Compare,
    Const,
    Count,
    Decide,
    Expr,
    Fold,
    Implies,
    Local,
    Member,
    Not,
    Or,
    Read,
    Retyped,
    Root,
    SetOf,
    SetOperation,
    Source,
    Span,
    Subset,
    Table,
    Unwrap,
    Wrap,
)
from slotproof.model.language.layout import WORD, Layout, Place
from slotproof.model.language.program import Program
from slotproof.model.language.types import BoolType, IntType, OptionalType

ORDER = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
ROOTS: tuple[Root, ...] = ("state", "before", "after")

Round = Callable[[str, str], None]


class Unit:
    """What all functions of one generated module share."""

    def __init__(self, program: Program, layout: Layout, slots: Slots, *, symmetric: bool = False) -> None:
        self.program = program
        self.symmetric = symmetric
        self.layout = layout
        self.slots = slots
        self.failing = Failing(program)
        self.globals: list[str] = []
        self._tables: dict[tuple[int, ...], str] = {}

    @property
    def overflow(self) -> int:
        """The site number of a number that leaves every range."""
        return len(self.program.sites)

    def table(self, values: tuple[int, ...]) -> str:
        """A constant array of these numbers."""
        if values not in self._tables:
            name = f"@table{len(self._tables)}"
            items = ", ".join(f"i64 {_signed(v)}" for v in values)
            self.globals.append(f"{name} = internal constant [{len(values)} x i64] [{items}], align 8")
            self._tables[values] = name
        return self._tables[values]

    def signature(self, number: int) -> tuple[str, bool]:
        """What a function returns, and whether it can end early (its status is then returned too)."""
        function = self.program.functions[number]
        fails = self.failing.function(number)
        kind = "i64" if function.returns is not None else "void"
        return {"i64": "{ i64, i64 }", "void": "i64"}[kind] if fails else kind, fails


class Expressions:
    """Emits expressions into one function; ``roots`` are the states that it can see."""

    def __init__(self, unit: Unit, roots: dict[Root, str], context: str = "%ctx") -> None:
        self.unit = unit
        self.roots = roots
        self.context = context
        self.asm = Assembly()
        self.status = self.asm.variable()
        self.unwind = self.asm.label("unwind")
        self._variables: dict[str, str] = {}

    def variable(self, local: Local) -> str:
        """The stack slot of a parameter or local variable."""
        if local.name not in self._variables:
            self._variables[local.name] = self.asm.variable()
        return self._variables[local.name]

    def end_if(self, condition: str, status: str | int) -> None:
        """End the step early if the condition holds."""
        with self.asm.when(condition):
            self.end(status)

    def end(self, status: str | int) -> None:
        """End the step early."""
        self.asm.store(str(status), self.status)
        self.asm.jump(self.unwind)

    def error_if(self, condition: str, site: int) -> None:
        """A model error at ``site`` if the condition holds."""
        self.end_if(condition, -site - 1)

    # ------------------------------------------------------------------ truth values and numbers

    def truth(self, e: Expr) -> str:
        """Emit an expression of type bool; the name of an ``i1``."""
        asm = self.asm
        match e:
            case Const():
                return "true" if e.value else "false"
            case Not():
                return asm.get(f"xor i1 {self.truth(e.item)}, true")
            case And():
                return self._shortcut(e.items, stop=False)
            case Or():
                return self._shortcut(e.items, stop=True)
            case Implies():
                premise = self.truth(e.premise)
                self._met(premise, e.premise_id)
                return self._unless(asm.get(f"xor i1 {premise}, true"), e.conclusion, self.truth)
            case Compare():
                return self._compare(e)
            case Member():
                element, set_ = self.number(e.element), self.number(e.set)
                return asm.get(f"trunc i64 {asm.get(f'lshr i64 {set_}, {element}')} to i1")
            case Subset():
                left = self.number(e.left)

                def inside(right: Expr) -> str:
                    outside = asm.get(f"and i64 {left}, {asm.get(f'xor i64 {self.number(right)}, -1')}")
                    return asm.get(f"icmp eq i64 {outside}, 0")

                return self._unless(asm.get(f"icmp eq i64 {left}, 0"), e.right, inside)
            case Fold() if e.kind in ("any", "all"):
                return self._search(e)
            case Choose():
                return asm.narrow(self._choose(e))
            case _:
                return asm.narrow(self.number(e))

    def number(self, e: Expr) -> str:
        """Emit an expression; the name of an ``i64``."""
        asm = self.asm
        match e:
            case Const():
                return _signed(e.value)
            case Local():
                return asm.load(self.variable(e))
            case Read():
                code = self._read(e)
                return self._plus(code, e.type.low)
            case Table():
                cell = self._linear(e.indices, e.dims)
                return asm.load(asm.at(self.unit.table(e.values), cell), constant=True)
            case Choose():
                return self._choose(e)
            case Arithmetic():
                return self._arithmetic(e)
            case SetOf():
                mask = "0"
                for element in e.elements:
                    mask = asm.get(f"or i64 {mask}, {asm.get(f'shl i64 1, {self.number(element)}')}")
                return mask
            case SetOperation():
                left, right = self.number(e.left), self.number(e.right)
                if e.operator == "-":
                    return asm.get(f"and i64 {left}, {asm.get(f'xor i64 {right}, -1')}")
                return asm.get(f"{ {'|': 'or', '&': 'and', '^': 'xor'}[e.operator] } i64 {left}, {right}")
            case Count():
                return asm.get(f"call i64 @llvm.ctpop.i64(i64 {self.number(e.set)})")
            case Wrap():
                return self._wrap(e)
            case Unwrap():
                code = self.number(e.item)
                self.error_if(asm.get(f"icmp eq i64 {code}, 0"), e.site)
                return self._plus(code, e.type.low - 1)
            case Checked():
                value = self.number(e.item)
                low, high = e.type.low, e.type.high
                self._inside(value, low, high, e.site)
                return value
            case Retyped():
                return self.number(e.item)
            case Fold() if e.kind not in ("any", "all"):
                return self._collect(e)
            case Call() | Decide():
                return self.call(e)
            case _:
                return asm.wide(self.truth(e))

    def _plus(self, value: str, constant: int) -> str:
        return value if constant == 0 else self.asm.get(f"add i64 {value}, {constant}")

    def _shortcut(self, items: tuple[Expr, ...], *, stop: bool) -> str:
        """``and`` or ``or``; jumps only around what costs something or must not be evaluated."""
        asm, failing = self.asm, self.unit.failing
        word = "or" if stop else "and"
        result: str | None = None
        for i, item in enumerate(items):
            if result is None:
                result = self.truth(item)
            elif failing.expression(item) or failing.costly(item):
                variable = asm.variable("i1")
                asm.store(result, variable, "i1")
                more, after = asm.label("more"), asm.label("known")
                asm.branch(result, *((after, more) if stop else (more, after)))
                asm.place(more)
                asm.store(self._shortcut(items[i:], stop=stop), variable, "i1")
                asm.place(after)
                return asm.load(variable, "i1")
            else:
                result = asm.get(f"{word} i1 {result}, {self.truth(item)}")
        return result if result is not None else ("false" if stop else "true")

    def _unless(self, known: str, item: Expr, truth: Callable[[Expr], str]) -> str:
        """True where ``known`` is, else what ``truth`` makes of the item; jumps around what costs something.

        What can end in an error is evaluated all the same, as Python does, and so is what notes a premise.
        """
        asm, failing = self.asm, self.unit.failing
        if failing.expression(item) or notes(item) or not failing.costly(item):
            return asm.get(f"or i1 {known}, {truth(item)}")
        variable = asm.variable("i1")
        asm.store(known, variable, "i1")
        more, after = asm.label("more"), asm.label("known")
        asm.branch(known, after, more)
        asm.place(more)
        asm.store(truth(item), variable, "i1")
        asm.place(after)
        return asm.load(variable, "i1")

    def _compare(self, e: Compare) -> str:
        if (
            isinstance(e.left.type, BoolType)
            and isinstance(e.right.type, BoolType)
            and e.operator in ("==", "!=")
        ):
            different = self.asm.get(f"xor i1 {self.truth(e.left)}, {self.truth(e.right)}")
            return different if e.operator == "!=" else self.asm.get(f"xor i1 {different}, true")
        left, right = self.number(e.left), self.number(e.right)
        return self.asm.get(f"icmp {ORDER[e.operator]} i64 {left}, {right}")

    def _choose(self, e: Choose) -> str:
        asm, failing = self.asm, self.unit.failing
        condition = self.truth(e.condition)
        if not any(failing.expression(x) or failing.costly(x) for x in (e.then, e.otherwise)):
            then, otherwise = self.number(e.then), self.number(e.otherwise)
            return asm.get(f"select i1 {condition}, i64 {then}, i64 {otherwise}")
        result = asm.variable()
        labels = asm.label("then"), asm.label("else"), asm.label("chosen")
        asm.branch(condition, labels[0], labels[1])
        asm.place(labels[0])
        asm.store(self.number(e.then), result)
        asm.jump(labels[2])
        asm.place(labels[1])
        asm.store(self.number(e.otherwise), result)
        asm.place(labels[2])
        return asm.load(result)

    def _arithmetic(self, e: Arithmetic) -> str:
        asm = self.asm
        left, right = self.number(e.left), self.number(e.right)
        if e.operator in ("//", "%"):
            # Python rounds down: take one from the quotient of a negative number with a remainder.
            rest = asm.get(f"srem i64 {left}, {right}")
            negative = asm.get(f"icmp slt i64 {rest}, 0")
            if e.operator == "%":
                return asm.get(f"add i64 {rest}, {asm.get(f'select i1 {negative}, i64 {right}, i64 0')}")
            return asm.get(f"sub i64 {asm.get(f'sdiv i64 {left}, {right}')}, {asm.wide(negative)}")
        word = {"+": "add", "-": "sub", "*": "mul"}[e.operator]
        if not overflows(e):
            return asm.get(f"{word} nsw i64 {left}, {right}")
        pair = asm.get(f"call {{ i64, i1 }} @llvm.s{word}.with.overflow.i64(i64 {left}, i64 {right})")
        self.error_if(asm.get(f"extractvalue {{ i64, i1 }} {pair}, 1"), self.unit.overflow)
        result = asm.get(f"extractvalue {{ i64, i1 }} {pair}, 0")
        self._inside(result, WIDE.low, WIDE.high, self.unit.overflow)
        return result

    def _inside(self, value: str, low: int, high: int, site: int) -> None:
        below = self.asm.get(f"sub i64 {value}, {low}")
        self.error_if(self.asm.get(f"icmp ugt i64 {below}, {high - low}"), site)

    def _wrap(self, e: Wrap) -> str:
        assert isinstance(e.type, OptionalType)
        value = self.number(e.item)
        item = e.type.item
        if not isinstance(item, IntType):
            return self._plus(value, 1)
        if e.site is not None:
            self._inside(value, item.low, item.high, e.site)
        return self._plus(value, 1 - item.low)

    def _met(self, premise: str, premise_id: int | None) -> None:
        """Remember that a premise was true."""
        if premise_id is None or not 0 <= premise_id < len(self.unit.program.premises):
            return
        asm = self.asm
        word = asm.at(self.context, self.unit.slots.premises + premise_id)
        asm.store(asm.get(f"or i64 {asm.load(word)}, {asm.wide(premise)}"), word)

    # ------------------------------------------------------------------ cells

    def _linear(self, indices: tuple[Expr, ...], dims: tuple[int, ...]) -> str | int:
        """The number of a cell, row-major; an int where it is known."""
        known = 0
        computed: str | None = None
        for index, size in zip(indices, dims, strict=True):
            if isinstance(index, Const) and computed is None:
                known = known * size + index.value
                continue
            if computed is None and known:
                computed = str(known)
            value = self.number(index)
            scaled = None if computed is None else self.asm.get(f"mul i64 {computed}, {size}")
            computed = value if scaled is None else self.asm.get(f"add i64 {scaled}, {value}")
        return known if computed is None else computed

    def _read(self, e: Read) -> str:
        column, place = self.unit.layout.columns[e.column], self.unit.layout.places[e.column]
        if len(set(column.initial)) == 1 and not place.width:
            return _signed(column.initial[0])
        cell = self._linear(e.indices, column.dims)
        if not place.width:
            return self.asm.load(self.asm.at(self.unit.table(column.initial), cell), constant=True)
        return self.read(place, self.roots[e.root], cell)

    def address(self, place: Place, root: str, cell: str | int) -> tuple[str, str]:
        """The pointer to a cell's word and the cell's first bit in it."""
        asm = self.asm
        if isinstance(cell, int):
            word, bit = place.bit(cell)
            return asm.at(root, word), str(bit)
        if place.words <= 1:
            bits = asm.get(f"mul i64 {cell}, {place.width}")
            return asm.at(root, place.word), self._plus(bits, place.shift)
        word_ = self._plus(asm.get(f"udiv i64 {cell}, {place.per_word}"), place.word)
        bits = asm.get(f"mul i64 {asm.get(f'urem i64 {cell}, {place.per_word}')}, {place.width}")
        return asm.at(root, word_), bits

    def read(self, place: Place, root: str, cell: str | int) -> str:
        """The code of a cell whose width is not 0."""
        pointer, bit = self.address(place, root, cell)
        word = self.asm.load(pointer)
        if place.width == WORD:
            return word
        return self.asm.get(f"and i64 {self.asm.get(f'lshr i64 {word}, {bit}')}, {place.mask}")

    # ------------------------------------------------------------------ folds

    def each(self, source: Source, variable: Local, body: Round) -> None:
        """Emit a loop; ``body`` gets the labels of the next round and of the end."""
        asm = self.asm
        slot = self.variable(variable)
        after = asm.label("done")
        counter = asm.variable()
        if isinstance(source, Span):
            with asm.loop(max(source.high - source.low, 0), counter) as following:
                asm.store(self._plus(asm.load(counter), source.low), slot)
                body(following, after)
        else:
            head, round_ = asm.label("head"), asm.label("element")
            asm.store(self.number(source.set), counter)
            asm.place(head)
            left = asm.load(counter)
            asm.branch(asm.narrow(left), round_, after)
            asm.place(round_)
            asm.store(asm.get(f"call i64 @llvm.cttz.i64(i64 {left}, i1 true)"), slot)
            asm.store(asm.get(f"and i64 {left}, {asm.get(f'sub i64 {left}, 1')}"), counter)
            body(head, after)
            asm.jump(head)
        asm.place(after)

    def _selected(self, e: Fold, following: str) -> None:
        """Go on with the next round unless the condition holds."""
        if e.condition is None:
            return
        condition = self.truth(e.condition)
        self._met(condition, e.premise_id)
        chosen = self.asm.label("chosen")
        self.asm.branch(condition, chosen, following)
        self.asm.place(chosen)

    def _search(self, e: Fold) -> str:
        """``any`` and ``all``: look for the first body that decides."""
        asm = self.asm
        found = asm.variable("i1")
        decisive = e.kind == "any"
        asm.store("false" if decisive else "true", found, "i1")

        def body(following: str, after: str) -> None:
            self._selected(e, following)
            decides, goes_on = asm.label("decides"), asm.label("on")
            value = self.truth(e.body)
            asm.branch(value, *((decides, goes_on) if decisive else (goes_on, decides)))
            asm.place(decides)
            asm.store("true" if decisive else "false", found, "i1")
            asm.jump(after)
            asm.place(goes_on)

        self.each(e.source, e.variable, body)
        return asm.load(found, "i1")

    def _collect(self, e: Fold) -> str:
        asm = self.asm
        result, some = asm.variable(), asm.variable("i1")
        asm.store("0", result)
        asm.store("false", some, "i1")

        def body(following: str, after: str) -> None:
            self._selected(e, following)
            value = self.number(e.body)
            if e.kind == "first":
                asm.store(value, result)
                asm.store("true", some, "i1")
                asm.jump(after)
                return
            before = asm.load(result)
            if e.kind == "sum":
                asm.store(asm.get(f"add i64 {before}, {value}"), result)
                if overflows(e):
                    self._inside(asm.load(result), WIDE.low, WIDE.high, self.unit.overflow)
            elif e.kind == "set":
                asm.store(asm.get(f"or i64 {before}, {asm.get(f'shl i64 1, {value}')}"), result)
            else:
                order = "slt" if e.kind == "min" else "sgt"
                none_yet = asm.get(f"xor i1 {asm.load(some, 'i1')}, true")
                better = asm.get(f"or i1 {none_yet}, {asm.get(f'icmp {order} i64 {value}, {before}')}")
                asm.store(asm.get(f"select i1 {better}, i64 {value}, i64 {before}"), result)
                asm.store("true", some, "i1")

        self.each(e.source, e.variable, body)
        if e.kind in ("min", "max", "first"):
            with asm.when(asm.get(f"xor i1 {asm.load(some, 'i1')}, true")):
                if e.default is None:
                    self.end(-(self.unit.overflow if e.site is None else e.site) - 1)
                else:
                    asm.store(self.number(e.default), result)
        return asm.load(result)

    # ------------------------------------------------------------------ calls

    def call(self, e: Call | Decide) -> str:
        """Emit a call; its value, or "0" where it has none."""
        asm = self.asm
        arguments = [self.number(a) for a in e.arguments]
        if isinstance(e, Call):
            return self._invoke(e.function, arguments)
        if len(set(e.functions)) == 1:
            return self._invoke(e.functions[0], arguments)
        result = asm.variable()
        choice = asm.load(asm.at(self.context, self.unit.slots.choices + e.point), constant=True)
        labels = [asm.label("choice") for _ in e.functions]
        after = asm.label("decided")
        asm.switch(choice, labels)
        for label, function in zip(labels, e.functions, strict=True):
            asm.place(label)
            asm.store(self._invoke(function, arguments), result)
            asm.jump(after)
        asm.place(after)
        return asm.load(result)

    def _invoke(self, function: int, arguments: list[str]) -> str:
        asm = self.asm
        kind, fails = self.unit.signature(function)
        states = [f"ptr {self.roots.get(r, 'null')}" for r in ROOTS]
        operands = ", ".join([f"ptr {self.context}", *states, *(f"i64 {a}" for a in arguments)])
        if kind == "void":
            asm.do(f"call void @f{function}({operands})")
            return "0"
        result = asm.get(f"call {kind} @f{function}({operands})")
        if not fails:
            return result
        status = result if kind == "i64" else asm.get(f"extractvalue {kind} {result}, 1")
        self.end_if(asm.narrow(status), status)
        return "0" if kind == "i64" else asm.get(f"extractvalue {kind} {result}, 0")


def _signed(value: int) -> str:
    return str(value - (1 << 64) if value >= 1 << 63 else value)
