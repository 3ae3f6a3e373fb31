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


MISUSES = [
    # -- statements
    in_effect("while", "while s.number < 3:  # <-\n    s.number += 1", "while loop", "write 'for x in'"),
    in_effect("try", "try:  # <-\n    s.flag = True\nfinally:\n    pass", "try", "with 'if'"),
    in_effect("with", "with open('x'):  # <-\n    s.flag = True", "with", "write the statements"),
    in_effect("global", "global total  # <-\ntotal = 1", "global", "field of the state"),
    Misuse(
        "nonlocal",
        """
        def make():
            total = 0
            @action
            def step(s: S) -> None:
                nonlocal total  # <-
                total = 1
            return step

        step = make()
        """,
        ("nonlocal", "field of the state"),
    ),
    in_effect("del", "del s.owner  # <-", "del", "assign None"),
    in_effect("assert", "assert s.flag  # <-", "assert", "crash("),
    in_effect("raise", "raise ValueError()  # <-", "raise", "crash("),
    in_effect("import", "import os  # <-", "import", "top of the file"),
    in_effect("def", "def inner() -> None:  # <-\n    pass", "function inside a function", "in the module"),
    in_effect("match", "match s.color:  # <-\n    case _:\n        pass", "match", "'if' and 'elif'"),
    in_effect("loop-else", "for j in Item:  # <-\n    pass\nelse:\n    s.flag = True", "'else' of a loop"),
    in_effect("loop-targets", "for a, b in Item:  # <-\n    pass", "loop", "plain name"),
    in_effect("two-targets", "s.number = s.level[i] = 1  # <-", "chain of assignments", "one line for each"),
    in_effect("tuple-target", "a, b = 1, 2  # <-", "several targets", "one line for each"),
    in_effect("unused-value", "s.number + 1  # <-", "is not used", "assign it"),
    in_effect("unused-call", "len(s.queue)  # <-", "is not used", "assign it"),
    in_effect(
        "changes-what-it-loops-over",
        "for j in s.queue:  # <-\n    s.queue.remove(j)",
        "changes the sequence",
        "filter",
    ),
    in_effect(
        "loop-calls-what-changes",
        "for j in s.parts:  # <-\n    s.parts.clear()",
        "changes the sequence",
    ),
    in_effect("late-require", "s.flag = True\nrequire(s.flag)  # <-", "'require'", "top of an action"),
    in_effect("require-in-if", "if s.flag:\n    require(s.flag)  # <-", "'require'", "top of an action"),
    in_effect("empty-require", "require()  # <-", "require() takes one condition"),
    in_effect("returns-value", "return 3  # <-", "returns a value", "action returns None"),
    in_effect(
        "perhaps-unset",
        "if s.flag:\n    x = 1\ns.number = x  # <-",
        "'x' may have no value",
        "before the 'if'",
    ),
    in_effect("after-the-loop", "for j in Item:\n    pass\ns.owner = j  # <-", "'j' may have no value"),
    # -- names and expressions
    in_effect("unknown-name", "s.number = numbr  # <-", "'numbr' is not defined"),
    in_effect(
        "near-name", "count_of = 1\ns.number = count_off  # <-", "'count_off'", "did you mean 'count_of'"
    ),
    in_effect("unknown-function", "s.number = lenn(s.queue)  # <-", "'lenn' is not defined"),
    in_effect("near-field", "s.ownr = i  # <-", "S has no field 'ownr'", "did you mean 'owner'"),
    in_effect("near-member", "s.color = Color.RES  # <-", "Color has no member 'RES'", "did you mean 'RED'"),
    in_effect("field-of-element", "s.number = i.level  # <-", "Item has no 'level'", "'.index'"),
    in_effect("alias", "p = s.part  # <-\np.weight = 1", "another name of a Part", "write the whole path"),
    in_effect("alias-of-map", "m = s.level  # <-", "another name of a Map[Item", "write the whole path"),
    in_effect(
        "list-reads-what-it-replaces",
        "s.queue = [j for j in Item if j in s.queue]  # <-",
        "reads the sequence that it replaces",
        "compute a set before",
    ),
    in_effect("set-add", "s.marked.add(i)  # <-", "no method 'add'", "write 's.x |= {a}'"),
    in_effect("set-discard", "s.marked.discard(i)  # <-", "no method 'discard'", "write 's.x -= {a}'"),
    in_effect("set-union", "s.marked = s.marked.union({i})  # <-", "method 'union'", "write 'a | b'"),
    in_effect("map-get", "s.number = s.level.get(i)  # <-", "method 'get'", "write 'm[k]'"),
    in_effect("pop-without-index", "s.queue.pop()  # <-", "'pop' with 0 arguments", "pop(i)"),
    in_effect("sort", "s.queue.sort()  # <-", "'sort'", "sequences have append(x)"),
    in_effect("float", "s.number = 1.5  # <-", "float", "write a whole number"),
    in_effect("division", "s.number = s.number / 2  # <-", "operator '/'", "write '//'"),
    in_effect("divide-by-variable", "s.number = 3 // s.number  # <-", "no positive constant", "divide by"),
    in_effect("modulo-zero", "s.number = s.number % 0  # <-", "no positive constant"),
    in_effect("power", "s.number = s.number**2  # <-", "operator '**'", "ints have + - * // %"),
    in_effect("text", "s.number = 'a' + 'b'  # <-", "text", "member of an enum"),
    in_effect("text-format", "s.color = f'{s.number}'  # <-", "text", "use an enum"),
    in_effect("lambda", "f = lambda x: x  # <-", "lambda", "function with a name"),
    in_effect("dict", "d = {i: 1}  # <-", "dict", "declare a Map"),
    in_effect("list", "d = [i]  # <-", "list", "sequence of the state"),
    in_effect("tuple", "d = (i, i)  # <-", "tuple", "one value at a time"),
    in_effect("slice", "s.queue = s.queue[1:]  # <-", "slice", "filter [x for x in q"),
    in_effect("slice-set", "s.queue[1:] = []  # <-", "slice", "filter [x for x in q"),
    in_effect("slice-value", "s.queue[:] = s.marked  # <-", "slice", "filter [x for x in q"),
    in_effect("walrus", "if (x := s.number) > 1:  # <-\n    s.flag = True", "':='", "line of its own"),
    in_effect("starred", "s.number = max(*s.level)  # <-", "'*'", "one by one"),
    in_effect("print", "print(s.number)  # <-", "print() is not in the language"),
    in_effect("open", "f = open('x')  # <-", "open() is not in the language"),
    in_effect(
        "sorted", "s.queue = sorted(s.marked)  # <-", "sorted() is not in the language", "in order already"
    ),
    in_effect("module", "s.number = math.floor(1)  # <-", "through its module", "import the name"),
    in_effect("pure-python", "s.number = dedent('x')  # <-", "'dedent' is not defined"),
    in_effect(
        "two-generators", "s.flag = any(a == b for a in Item for b in Item)  # <-", "two 'for'", "nest"
    ),
    in_effect("lone-generator", "g = (a for a in Item)  # <-", "generator by itself", "inside any"),
    in_effect("set-of-numbers", "x = {1, 2}  # <-", "set of", "elements of a domain or enum"),
    # -- types
    in_effect("other-enum", "s.flag = s.color == Shape.RED  # <-", "a Color is compared with a Shape"),
    in_effect("never-none", "s.flag = s.color is None  # <-", "a Color is never None"),
    in_effect("wrong-type", "s.color = Shape.RED  # <-", "a Shape where a Color is needed"),
    in_effect("number-as-element", "s.owner = 1  # <-", "a int where a Item is needed"),
    in_effect("none-into-bool", "s.flag = None  # <-", "None where a bool is needed", "'bool | None'"),
    in_effect("untyped-none", "x = None  # <-", "starts as None", "write 'x: type = …'"),
    in_effect("class-as-value", "s.owner = Item  # <-", "class Item is used as a value", "instance"),
    in_effect("function-as-value", "s.flag = any  # <-", "function any is used as a value", "call it"),
    in_effect("element-arithmetic", "s.number = i + 1  # <-", "arithmetic with a Item", "'.index'"),
    in_effect("out-of-domain", "s.owner = Item(3)  # <-", "Item(3) leaves the domain of 3"),
    in_effect("number-as-condition", "if s.number:  # <-\n    s.flag = True", "no condition", "compare it"),
    in_effect("optional-as-condition", "if s.owner:  # <-\n    s.flag = True", "no condition", "is not None"),
    in_effect("set-in-and", "s.flag = s.flag and s.marked  # <-", "'and' or 'or'", "len(x) > 0"),
    in_effect("order-of-colors", "s.flag = s.color < Color.BLUE  # <-", "a Color has no order"),
    in_effect("whole-record", "s.flag = s.part == s.part  # <-", "whole records", "compare their fields"),
    in_effect("record-in", "s.flag = i in s.parts  # <-", "sequence of records", "any(x.field"),
    in_effect("record-remove", "s.parts.remove(i)  # <-", "sequence of records", "filter"),
    in_effect("whole-map", "s.level = s.level  # <-", "whole Map[Item", "write its items"),
    in_effect("record-field", "s.parts.append(Part(colour=Color.RED))  # <-", "Part has no field 'colour'"),
    # -- functions
    Misuse(
        "recursion",
        """
        def down(n: int) -> int:
            return 0 if n == 0 else down(n - 1)  # <-

        @action
        def step(s: S) -> None:
            s.number = down(s.number)
        """,
        ("down calls itself", "write a loop"),
    ),
    Misuse(
        "mutual-recursion",
        """
        def odd(n: int) -> bool:
            return n != 0 and even(n - 1)

        def even(n: int) -> bool:
            return n == 0 or odd(n - 1)  # <-

        @action
        def step(s: S) -> None:
            s.flag = odd(s.number)
        """,
        ("odd calls itself", "write a loop"),
    ),
    Misuse(
        "untyped-parameter",
        """
        @action
        def step(s: S, i) -> None:  # <-
            s.owner = i
        """,
        ("step", "parameter 'i' has no type", "write 'i: type'"),
    ),
    Misuse(
        "untyped-helper",
        """
        def twice(n) -> int:  # <-
            return 2 * n

        @action
        def step(s: S) -> None:
            s.number = twice(1)
        """,
        ("twice", "parameter 'n' has no type", "write 'n: type'"),
    ),
    Misuse(
        "no-result-type",
        """
        def twice(n: int):  # <-
            return 2 * n

        @action
        def step(s: S) -> None:
            s.number = twice(1)
        """,
        ("twice has no result type", "write '-> bool'"),
    ),
    Misuse(
        "end-without-return",
        """
        def sign(n: int) -> int:  # <-
            if n > 0:
                return 1

        @action
        def step(s: S) -> None:
            s.number = sign(s.number)
        """,
        ("sign can end without 'return'", "on every way"),
    ),
    Misuse(
        "nothing-as-value",
        """
        def clear(s: S) -> None:
            s.flag = False

        @action
        def step(s: S) -> None:
            s.flag = clear(s)  # <-
        """,
        ("clear returns nothing", "line of its own"),
    ),
    Misuse(
        "effect-in-guard",
        """
        def take(s: S) -> bool:
            s.flag = True  # <-
            return True

        @action
        def step(s: S) -> None:
            require(take(s))
            s.number = 1
        """,
        ("state is changed here", "only the effect of an action"),
    ),
    Misuse(
        "too-many-arguments",
        """
        def twice(n: int) -> int:
            return 2 * n

        @action
        def step(s: S) -> None:
            s.number = twice(1, 2)  # <-
        """,
        ("twice takes 1 argument", "2 are given"),
    ),
    Misuse(
        "call-of-an-action",
        """
        @action
        def other(s: S) -> None:
            s.flag = True

        @action
        def step(s: S) -> None:
            other(s)  # <-
        """,
        ("action other is called", "helper function"),
    ),
    Misuse(
        "no-state",
        """
        @action
        def step() -> None:  # <-
            pass
        """,
        ("step has no state parameter", "write 'def step(s: S"),
    ),
    Misuse(
        "first-is-no-state",
        """
        @action
        def step(i: Item, s: S) -> None:  # <-
            s.owner = i
        """,
        ("step", "parameter 'i' has to be the state", "write 'i: S'"),
    ),
    Misuse(
        "unbounded-parameter",
        """
        @action
        def step(s: S, n: int) -> None:  # <-
            s.number = n
        """,
        ("step: parameter 'n'", "no bounds", "Annotated[int, Range("),
    ),
    Misuse(
        "text-parameter",
        """
        @action
        def step(s: S, n: str) -> None:  # <-
            s.flag = True
        """,
        ("step: parameter 'n'", "type str is not in the language", "write an enum"),
    ),
    Misuse(
        "default-parameter",
        """
        @action
        def step(s: S, flag: bool = True) -> None:  # <-
            s.flag = flag
        """,
        ("step", "parameters are plain names"),
    ),
    Misuse(
        "action-with-result",
        """
        @action
        def step(s: S) -> bool:  # <-
            return s.flag
        """,
        ("step is an action and returns nothing", "write '-> None'"),
    ),
    Misuse(
        "undefined-annotation",
        """
        @action
        def step(s: S, i: "Itm") -> None:  # <-
            s.owner = i
        """,
        ("step", "'Itm'", "not defined"),
    ),
    # -- declarations
    Misuse(
        "unbounded-int",
        """
        class T(State):
            n: int = field(0, "any number")  # <-

        @action
        def step(s: T) -> None:
            s.n += 1

        system = System("t", T, actions=[step])
        """,
        ("T.n", "no bounds", "Annotated[int, Range("),
    ),
    Misuse(
        "text-field",
        """
        class T(State):
            name: str = field("", "a name")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.name", "type str is not in the language", "write an enum"),
    ),
    Misuse(
        "list-field",
        """
        class T(State):
            row: list[Item] = field((), "a row")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.row", "list", "write 'Seq[…]'"),
    ),
    Misuse(
        "big-set",
        """
        class Page(Domain, size=65, names="p{n}"):
            '''One too many.'''

        class T(State):
            held: Set[Page] = field(frozenset(), "pages")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.held", "set of 65 elements", "write Map[Page, bool]"),
    ),
    Misuse(
        "union",
        """
        class T(State):
            either: Item | Color | None = field(None, "one or the other")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.either", "union", "write 'X | None'"),
    ),
    Misuse(
        "sequence-without-bound",
        """
        class T(State):
            row: Seq[Color] = field((), "colors")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.row", "sequence without bound", "Capacity(n)"),
    ),
    Misuse(
        "map-from-numbers",
        """
        class T(State):
            table: Map[int, bool] = field(False, "a table")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.table", "no bounds"),
    ),
    Misuse(
        "no-initial-value",
        """
        class T(State):
            flag: bool  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.flag has no initial value", "field(initial"),
    ),
    Misuse(
        "no-field-type",
        """
        class T(State):
            flag = field(False, "a truth value")  # <-
            other: bool = field(False, "another")

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.flag has no type", "write 'flag: type = field("),
    ),
    Misuse(
        "initial-out-of-range",
        """
        class T(State):
            n: Annotated[int, Range(0, 2)] = field(3, "a number")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.n", "initial value", "3 leaves the range 0..2"),
    ),
    Misuse(
        "empty-range",
        """
        class T(State):
            n: Annotated[int, Range(2, 0)] = field(0, "a number")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.n", "range 2..0 has no values"),
    ),
    Misuse(
        "no-state-class",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        system = System("t", Part, actions=[step])  # <-
        """,
        ("state is", "write a subclass of State"),
    ),
    Misuse(
        "unmarked-action",
        """
        def step(s: S) -> None:
            s.flag = True

        system = System("t", S, actions=[step])  # <-
        """,
        ("step is not marked", "write '@action' above it"),
    ),
    Misuse(
        "twice-the-same-name",
        """
        def make():
            @action
            def step(s: S) -> None:
                s.flag = True
            return step

        system = System("t", S, actions=[make(), make()])  # <-
        """,
        ("two actions named 'step'", "rename one"),
    ),
    Misuse(
        "number-property",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S) -> int:  # <-
            return s.number

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("good is true or false", "write '-> bool'"),
    ),
    Misuse(
        "property-with-effect",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S) -> bool:
            s.flag = False  # <-
            return True

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("state is changed here",),
    ),
    Misuse(
        "property-with-parameter",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S, i: Item) -> bool:  # <-
            return i not in s.marked

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("good", "'i'", "@step_invariant(on=action)"),
    ),
    Misuse(
        "other-parameters",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @step_invariant(on=step)
        def good(before: S, after: S, c: Color) -> bool:  # <-
            return after.flag

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("good", "action step has the parameters (i: Item)", "all of them or none"),
    ),
    Misuse(
        "step-of-one-state",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @step_invariant
        def good(s: S) -> bool:  # <-
            return s.flag

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("good", "'before' and 'after'"),
    ),
    Misuse(
        "crash-in-property",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S) -> bool:
            if s.flag:
                crash("found")  # <-
            return True

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("'crash'", "effect of an action"),
    ),
    Misuse(
        "no-alternatives",
        """
        @decision
        def chosen(s: S) -> bool:
            '''Whether to go on.'''

        @action
        def step(s: S) -> None:
            s.flag = chosen(s)  # <-
        """,
        ("decision chosen has no alternatives", "System(decisions=[Alternatives("),
    ),
    Misuse(
        "different-alternatives",
        """
        @decision
        def chosen(s: S) -> bool:
            '''Whether to go on.'''

        def one(s: S) -> bool:
            return True

        def two(s: S) -> int:
            return 2

        @action
        def step(s: S) -> None:
            s.flag = chosen(s)  # <-

        system = System(
            "t", S, actions=[step], decisions=[Alternatives(chosen, one, two)], choices={"chosen": "one"}
        )
        """,
        ("alternative two of decision chosen returns another type",),
    ),
    Misuse(
        "unknown-choice",
        """
        @decision
        def chosen(s: S) -> bool:
            '''Whether to go on.'''

        def one(s: S) -> bool:
            return True

        @action
        def step(s: S) -> None:
            s.flag = chosen(s)

        system = System("t", S, actions=[step], decisions=[Alternatives(chosen, one)])
        system = system.with_choices({"chosen": "two"})  # <-
        """,
        ("decision chosen has no alternative 'two'",),
    ),
    Misuse(
        "text-for-number",
        """
        size = parameter("size", int, "three", "how many")  # <-

        class Thing(Domain, size=size, names="t{n}"):
            '''Something.'''

        class T(State):
            held: Thing | None = field(None, "a thing")

        @action
        def step(s: T, t: Thing) -> None:
            s.held = t

        system = System("t", T, actions=[step])
        """,
        ("parameter size", "'three' is no int"),
    ),
    Misuse(
        "empty-domain",
        """
        class Nobody(Domain, size=0, names="n{n}"):
            '''Nothing.'''

        @action
        def step(s: S, n: Nobody) -> None:  # <-
            s.flag = True
        """,
        ("Nobody", "at least one"),
    ),
    Misuse(
        "size-of-text",
        """
        class Named(Domain, size="three", names="n{n}"):  # <-
            '''Three.'''

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("domain Named: size is 'three'", "write a number or an int parameter"),
    ),
    Misuse(
        "element-of-no-number",
        """
        class Holder(State):
            owner: Item = field(Item("i1"), "an item")  # <-

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("Item('i1')", "named by its number", "Item(0)"),
    ),
    *(
        Misuse(
            f"marked-{name}",
            f"""
            {marks[0]}
            {marks[1]}
            def step({parameters}) -> {result}:
                return{value}
            """,
            ("step is marked twice", "keep one"),
        )
        for name, marks, parameters, result, value in (
            ("twice", ("@action  # <-", "@action"), "s: S", "None", ""),
            ("twice-with-words", ("@action(actor='x')  # <-", "@initial"), "s: S", "None", ""),
            ("as-two-properties", ("@witness  # <-", "@invariant"), "s: S", "bool", " True"),
            ("as-two-kinds", ("@step_invariant  # <-", "@decision"), "a: S, b: S", "bool", " True"),
        )
    ),
    Misuse(
        "mark-above-a-class",
        """
        @invariant  # <-
        class Good:
            pass
        """,
        ("is no function", "write 'def name(…):'"),
    ),
    Misuse(
        "parameter-of-a-map-without-values",
        """
        @action
        def step(s: S, m: "Map[Item]") -> None:  # <-
            s.flag = True
        """,
        ("step: an annotation is no type (TypeError: Too few arguments", "write a type of the language"),
    ),
    Misuse(
        "local-of-a-type-that-fails",
        """
        @action
        def step(s: S) -> None:
            n: Color.GREEN = 1  # <-
        """,
        ("an annotation is no type (AttributeError: ", "write a type of the language"),
    ),
    Misuse(
        "record-of-a-type-that-fails",
        """
        class Holder(State):  # <-
            owner: "Map[Item]" = field(0, "an item")

        @action
        def step(s: Holder) -> None:
            s.owner = 1

        system = System("s", Holder, actions=[step])
        """,
        ("Holder: an annotation is no type (TypeError: ", "write a type of the language"),
    ),
    *(
        Misuse(
            f"system-{name}",
            f"""
            @action
            def step(s: S) -> None:
                s.flag = True

            @decision
            def choice(s: S) -> bool:
                raise NotImplementedError

            def yes(s: S) -> bool:
                return True

            system = System({arguments})  # <-
            """,
            words,
        )
        for name, arguments, words in (
            ("without-a-name", "'', S, [step]", ("system ''", "one line of text")),
            ("named-in-two-lines", "'a\\nb', S, [step]", ("one line of text",)),
            ("of-one-action", "'s', S, step", ("actions is action step", "write a list: actions=[…]")),
            ("of-no-actions", "'s', S, None", ("actions is None", "write a list: actions=[…]")),
            ("of-an-iterator", "'s', S, iter([step])", ("actions is ", "write a list: actions=[…]")),
            ("of-a-set", "'s', S, {step}", ("actions is ", "write a list: actions=[…]")),
            ("that-starts-once", "'s', S, [step], initial=step", ("initial is", "write a list: initial=[…]")),
            ("of-one-property", "'s', S, [step], properties=3", ("write a list: properties=[…]",)),
            ("of-listed-sizes", "'s', S, [step], parameters=[3]", ("write values by name: parameters={",)),
            (
                "of-nameless-sizes",
                "'s', S, [step], parameters={3: 3}",
                ("write values by name: parameters={",),
            ),
            ("with-meaning", "'s', S, [step], meaning=3", ("meaning is 3", "write a text")),
            ("final-now", "'s', S, [step], final=True", ("final is True", "write a function of the state")),
            ("of-a-decision", "'s', S, [step], decisions=[choice]", ("write Alternatives(decision",)),
            (
                "of-marked-alternatives",
                "'s', S, [step], decisions=[Alternatives(choice, choice)]",
                ("is no function", "no mark"),
            ),
            (
                "of-alternatives-of-nothing",
                "'s', S, [step], decisions=[Alternatives(yes, yes)]",
                ("is no decision", "write '@decision'"),
            ),
            (
                "of-equal-alternatives",
                "'s', S, [step], decisions=[Alternatives(choice, yes, yes)]",
                ("two alternatives named 'yes'", "rename one"),
            ),
            (
                "of-equal-decisions",
                "'s', S, [step], decisions=[Alternatives(choice, yes), Alternatives(choice, yes)]",
                ("two decisions named 'choice'", "rename one"),
            ),
            (
                "of-an-unknown-choice",
                "'s', S, [step], decisions=[Alternatives(choice, yes)], choices={'choice': 'no'}",
                ("no alternative 'no'", "it has: yes"),
            ),
            (
                "of-a-choice-of-nothing",
                "'s', S, [step], decisions=[Alternatives(choice, yes)], choices={'chance': 'yes'}",
                ("no decision 'chance'",),
            ),
        )
    ),
    *(
        Misuse(
            f"field-{name}",
            f"""
            class Holder(State):
                {declaration}  # <-

            @action
            def step(s: Holder) -> None:
                s.of = 1

            system = System("s", Holder, actions=[step])
            """,
            words,
        )
        for name, declaration, words in (
            ("of-no-keys", "of: Map[Item, bool] = field({}, '')", ("nothing for key i1",)),
            ("of-a-key", "of: Map[Color, bool] = field({Color.RED: True}, '')", ("nothing for key BLUE",)),
            (
                "of-another-key",
                "of: Map[Color, bool] = field({Shape.RED: 1}, '')",
                ("Shape.RED is no Color",),
            ),
            (
                "of-keys-inside",
                "of: Map[Item, Map[Color, bool]] = field({'*': True}, '')",
                ("'*' is no Item",),
            ),
            ("of-no-row", "of: Seq[Item] = field(3, '')", ("3 is no sequence", "write '()'")),
            ("of-a-text", "of: Seq[Item] = field('', '')", ("'' is no sequence", "write '()'")),
            ("of-wrong-items", "of: Seq[Item] = field((Color.RED,), '')", ("Color.RED is no Item",)),
            (
                "of-parts-too-heavy",
                "of: Annotated[Seq[Part], Capacity(2)] = field((Part(weight=10),), '')",
                ("10 leaves the range 0..9",),
            ),
            ("of-a-made-record", "of: Part = field(Part(weight=2), '')", ("write 'of: type'",)),
            ("of-a-base", "of: Record", ("Record by itself is no type", "write a subclass")),
            ("of-no-domain", "of: Domain = field(0, '')", ("Domain by itself is no type", "a subclass")),
            ("of-no-enum", "of: enum.Enum = field(0, '')", ("Enum by itself is no type", "a subclass")),
            ("of-itself", "of: 'Holder'", ("Holder contains itself", "leave it out")),
            (
                "of-a-million",
                "of: Annotated[Seq[bool], Capacity(1_000_000)] = field((), '')",
                ("1,000,001 cells", "at most 65,536", "make it smaller"),
            ),
            ("under-a-dash", "_of: bool = field(False, '')", ("Holder._of", "begins with a letter")),
            ("under-two-dashes", "__of: bool = field(False, '')", ("Holder.__of", "begins with a letter")),
        )
    ),
    *(
        Misuse(
            f"about-{name}",
            f"""
            @action
            def step(s: S) -> None:
                s.flag = True

            @step_invariant(on={on})  # <-
            def good(before: S, after: S) -> bool:
                return True

            system = System("s", S, actions=[step], properties=[good])
            """,
            ("is no action", "write '@step_invariant(on=action)'"),
        )
        for name, on in (("a-number", "3"), ("a-name", "'step'"), ("a-number-too", "(step, 3)"))
    ),
    Misuse(
        "parameter-without-a-name",
        """
        other = parameter("how many", int, 3, "a number")  # <-

        @action
        def step(s: S) -> None:
            s.number = other
        """,
        ("parameter 'how many'", "--set NAME=VALUE"),
    ),
    Misuse(
        "parameter-of-another-type",
        """
        other = parameter("other", float, 3, "a number")  # <-

        @action
        def step(s: S) -> None:
            s.number = other
        """,
        ("parameter other: type float", "write 'Annotated[int, Range"),
    ),
    Misuse(
        "parameter-for-some-keys",
        """
        other = parameter("other", Map[Item, bool], {"i1": True}, "a map")  # <-

        @action
        def step(s: S, i: Item) -> None:
            s.flag = other[i]
        """,
        ("nothing for key i2", "all others one: *"),
    ),
    Misuse(
        "parameter-of-no-set",
        """
        other = parameter("other", Set[Item], None, "a set")  # <-

        @action
        def step(s: S, i: Item) -> None:
            s.flag = i in other
        """,
        ("None is no set", "the empty one is {}"),
    ),
    *(
        Misuse(
            f"names-{name}",
            f"""
            class Named(Domain, size=count, names={names}):  # <-
                '''Three.'''

            @action
            def step(s: S) -> None:
                s.flag = True
            """,
            ("domain Named: names=", said, "write a format", "tuple of different names"),
        )
        for name, names, said in (
            ("in-one-text", '"ABC"', "the same name"),
            ("of-another-word", '"n{x}"', "is no format"),
            ("with-an-open-brace", '"n{"', "is no format"),
            ("of-a-place", '"n{0}"', "is no format"),
            ("of-a-calculation", '"n{i//2}"', "is no format"),
            ("that-are-equal", '("a", "b", "a")', "a name twice"),
            ("that-are-numbers", "[1, 2, 3]", "no sequence of names"),
            ("that-are-no-sequence", "3", "no sequence of names"),
        )
    ),
    Misuse(
        "parameter-outside",
        """
        if count:  # <-
            pass

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("parameter count has no meaning outside a system", "read it inside"),
    ),
    Misuse(
        "domain-outside",
        """
        ITEMS = [i for i in Item]  # <-

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("domain Item has no meaning outside a system", "inside the language"),
    ),
    Misuse(
        "decision-outside",
        """
        @decision
        def chosen(n: int) -> bool:
            '''Whether to go on.'''

        ALWAYS = chosen(1)  # <-

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("decision chosen has no meaning outside a system",),
    ),
    Misuse(
        "lambda-as-action",
        """
        step = action(lambda s: None)  # <-
        """,
        ("no plain function", "write 'def"),
    ),
    Misuse(
        "async-action",
        """
        @action
        async def step(s: S) -> None:  # <-
            s.flag = True
        """,
        ("step", "no plain function", "write 'def step("),
    ),
    Misuse(
        "progress-without-fairness",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:  # <-
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done])
        """,
        ("done is a progress property", "assumes no fairness", "write System(…, fairness=[weak(action), …])"),
    ),
    Misuse(
        "progress-of-a-bool",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return s.flag  # <-

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step)])
        """,
        ("done is marked '@eventually'", "leads_to(premise, goal)"),
    ),
    Misuse(
        "progress-with-two-returns",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            if s.flag:
                return True  # <-
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step)])
        """,
        ("its one 'return' is leads_to(premise, goal)",),
    ),
    Misuse(
        "progress-without-goal",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(s.flag)  # <-

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step)])
        """,
        ("leads_to() takes a premise and a goal",),
    ),
    Misuse(
        "fairness-of-nothing",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[weak()])  # <-
        """,
        ("weak(): names no action", "write weak(action, …)"),
    ),
    Misuse(
        "fairness-of-a-property",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[strong(done)])  # <-
        """,
        ("strong(property done): is no action", "'@action'"),
    ),
    Misuse(
        "fairness-of-a-foreign-action",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        @action
        def other(s: S) -> None:
            s.flag = False

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step, other)])  # <-
        """,
        ("weak(step or other): system s has no action other", "leave it out"),
    ),
    Misuse(
        "fairness-for-each-of-nothing",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step, each="j")])  # <-
        """,
        ("each: no parameter 'j' in action step", "it has: i"),
    ),
    Misuse(
        "fairness-where-of-another-type",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        def marked(s: S, i: Color) -> bool:  # <-
            return True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step, where=marked)])
        """,
        ("'i' is Item in the actions", "write that type here"),
    ),
    Misuse(
        "fairness-that-is-no-fairness",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[step])  # <-
        """,
        ("fairness action step", "write weak(action) or strong(action)"),
    ),
]
