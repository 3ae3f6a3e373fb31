"""Calls: the words that the language shares with Python, its own, and helper functions."""

from __future__ import annotations

import ast
import enum
import types
from typing import Any, Literal, cast

from slotproof.model.language import surface
from slotproof.model.language.bind import BoundMap
from slotproof.model.language.comprehensions import Comprehensions, elements
from slotproof.model.language.domains import Domain
from slotproof.model.language.ir import (
    Checked,
    Const,
    Expr,
    Implies,
)
from slotproof.model.language.operands import (
    BOOL,
    EmptySet,
    Nothing,
    Operand,
    Place,
    choice,
    comparison,
    count,
    number,
    retyped,
)
from slotproof.model.language.source import MISSING
from slotproof.model.language.types import (
    IndexType,
    IntType,
    MapType,
    OptionalType,
    SeqType,
    SetType,
)
from slotproof.model.near import near


class Calls(Comprehensions):
    """Compiles calls that are values."""

    def call(self, node: ast.Call) -> Operand:
        """A call of one of the language's words or of a helper function."""
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and isinstance(self.module_value(owner), types.ModuleType):
                raise self.error(
                    node, f"'{ast.unparse(node.func)}' is named through its module; import the name itself"
                )
            raise self.error(
                node,
                f"method '{node.func.attr}' is not in the language here; {method_remedy(node.func.attr)}",
            )
        if not isinstance(node.func, ast.Name):
            raise self.error(node, "a call of something that is no name; call a function of the module")
        name = node.func.id
        if name in self.names:
            raise self.error(node, f"'{name}' is a value, no function; leave the parentheses out")
        value = self.text.lookup(name)
        if value is MISSING:
            hint = near(name, [k for k, v in self.text.function.__globals__.items() if callable(v)])
            raise self.error(node, f"function '{name}' is not defined{hint}")
        if value is surface.require:
            raise self.error(
                node, "'require' stands only at the top of an action, before any other statement"
            )
        if value in (surface.crash, surface.reset):
            raise self.error(node, f"'{name}' is a statement; write it on a line of its own")
        builtin = self.builtin(value, node)
        if builtin is not None:
            return builtin
        if isinstance(value, type) and issubclass(value, Domain):
            return self.element(value, node)
        if isinstance(value, type):
            raise self.error(
                node, f"{name}(…) is not in the language here; records are made in append() or assigned whole"
            )
        return self.function_call(value, node)

    def builtin(self, value: Any, node: ast.Call) -> Operand | None:
        """The words that the language shares with Python, and its own."""
        folds: dict[Any, Literal["any", "all", "sum", "min", "max", "first"]] = {
            any: "any", all: "all", sum: "sum", min: "min", max: "max", next: "first"
        }  # fmt: skip
        if value in (min, max) and len(node.args) == 2:
            a, b = self.integer(node.args[0]), self.integer(node.args[1])
            return choice(comparison("<=" if value is min else ">=", a, b), a, b)
        if isinstance(value, types.BuiltinFunctionType) and value in folds:
            if not node.args:
                raise self.error(
                    node,
                    f"{ast.unparse(node.func)}() needs a generator: {ast.unparse(node.func)}(… for x in …)",
                )
            return self.fold(folds[value], node)
        if value is len:
            return self.len_of(node)
        if value in (set, frozenset):
            if not node.args:
                return EmptySet()
            over = self.module_value(node.args[0]) if isinstance(node.args[0], ast.Name) else None
            if isinstance(over, type) or isinstance(node.args[0], ast.GeneratorExp):
                raise self.error(node, "set(…) of these is not in the language; write '{x for x in …}'")
            return self.as_set(node.args[0])
        if value is surface.some:
            item = self.scalar(node.args[0])
            return self.unwrap(item, node) if isinstance(item.type, OptionalType) else item
        if value is surface.implies:
            premise, conclusion = (self.condition(a) for a in node.args)
            if self.property_name is None:
                return comparison("<=", premise, conclusion)
            number_ = self.compiler.premise(self.property_name, self.text.site(node.args[0]))
            return Implies(BOOL, premise, conclusion, number_)
        if value in (
            print,
            open,
            input,
            eval,
            exec,
            sorted,
            enumerate,
            zip,
            map,
            filter,
            abs,
            range,
            str,
            list,
            dict,
            tuple,
            isinstance,
            getattr,
            hasattr,
            id,
            repr,
            type,
        ):
            remedies = {
                sorted: "domains and sets iterate in order already",
                enumerate: "iterate over the sequence or over range(n)",
                range: "write it in a 'for'",
            }
            raise self.error(
                node,
                f"{ast.unparse(node.func)}() is not in the language; "
                f"{remedies.get(value, 'see its reference for what is')}",
            )
        return None

    def as_set(self, node: ast.expr) -> Operand:
        """``set(x)`` of a set or sequence."""
        operand = self.operand(node)
        if isinstance(operand, Place):
            return self.set_comprehension(ast.fix_missing_locations(ast.copy_location(elements(node), node)))
        if not self.is_set(operand):
            raise self.error(node, f"set() of {self.describe(operand)}; write it of a set or a sequence")
        return operand

    def len_of(self, node: ast.Call) -> Expr:
        """``len`` of a set, sequence, map or domain."""
        if len(node.args) != 1:
            raise self.error(node, "len() takes one set, sequence, map or domain")
        cls = self.class_named(node.args[0])
        if cls is not None and issubclass(cls, Domain):
            return number(self.compiler.binding.size(cls))
        if cls is not None and issubclass(cls, enum.Enum):
            return number(len(cls))
        operand = self.operand(node.args[0])
        if isinstance(operand, EmptySet):
            return number(0)
        if isinstance(operand, Place) and isinstance(operand.type, SeqType):
            return self.length(operand)
        if isinstance(operand, Place | BoundMap) and isinstance(operand.type, MapType):
            return number(operand.type.key.size)
        if not isinstance(operand, Nothing | Place | BoundMap) and isinstance(operand.type, SetType):
            return count(operand)
        raise self.error(
            node, f"len() of {self.describe(operand)}; write it of a set, sequence, map or domain"
        )

    def element(self, cls: type[Domain], node: ast.Call) -> Expr:
        """``Adapter(i)``: the element of a number."""
        type_ = IndexType(cls, self.compiler.binding.size(cls))
        if len(node.args) != 1 or node.keywords:
            raise self.error(node, f"{cls.__name__}(…) takes one number")
        index = self.integer(node.args[0])
        bounds = cast(IntType, index.type)
        if bounds.low >= 0 and bounds.high < type_.size:
            return retyped(type_, index)
        if isinstance(index, Const) and isinstance(node.args[0], ast.Constant):
            raise self.error(node, f"{cls.__name__}({index.value}) leaves the domain of {type_.size}")
        return Checked(type_, index, self.site(node))

    def function_call(self, value: Any, node: ast.Call) -> Operand:
        """A call of a helper function or a decision."""
        call = self.compiler.call(value, self, node)
        if call is None:
            raise self.error(node, f"{ast.unparse(node.func)} returns nothing; call it on a line of its own")
        return call


def method_remedy(name: str) -> str:
    """What to write instead of a method."""
    return {
        "add": "write 's.x |= {a}'",
        "discard": "write 's.x -= {a}'",
        "union": "write 'a | b'",
        "get": "maps are total: write 'm[k]'",
        "values": "iterate over the map's keys",
        "items": "iterate over the map's keys",
        "keys": "iterate over the map itself",
        "pop": "write 'x = q.pop(0)' on a line of its own",
        "append": "write it on a line of its own",
    }.get(name, "write a function of the module and call it by name")
