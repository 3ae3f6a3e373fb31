"""Random systems, part by part."""

from hypothesis import strategies as st

from tests.model.language.texts.scopes import (
    BOOL,
    COLOR,
    INITIAL,
    ITEM,
    PARAMETERS,
    SCALARS,
    SMALL,
    Int,
    Optional,
    Row,
    Scalar,
    SetOf,
)
from tests.model.language.texts.statements import Statements


class Writer(Statements):
    """Writes one system, drawing every choice."""

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
