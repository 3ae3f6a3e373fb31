"""From a Python expression of the language to a typed expression of the IR."""

from __future__ import annotations

import ast
import enum
import types
from typing import cast

from slotproof.model.language.bind import BoundMap
from slotproof.model.language.calls import Calls
from slotproof.model.language.columns import is_scalar
from slotproof.model.language.ir import (
    Const,
    Expr,
    Fold,
    Span,
    Unwrap,
    Wrap,
)
from slotproof.model.language.operands import (
    BOOL,
    FALSE,
    TRUE,
    EmptySet,
    Nothing,
    Operand,
    Place,
    arithmetic,
    choice,
    comparison,
    conjunction,
    disjunction,
    evaluated,
    member,
    negation,
    number,
    retyped,
    set_operation,
    subset,
    table,
)
from slotproof.model.language.source import MISSING
from slotproof.model.language.types import (
    BoolType,
    IndexType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    ScalarType,
    SeqType,
    SetType,
)
from slotproof.model.near import near, near_or_all

REMEDIES: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "write a function with a name"),
    ast.Dict: ("a dict", "declare a Map in the state and write its items"),
    ast.DictComp: ("a dict comprehension", "declare a Map in the state and write its items in a loop"),
    ast.ListComp: ("a list", "write a set {…}, or assign the list to a sequence of the state"),
    ast.List: ("a list", "write a set {…}, or assign the list to a sequence of the state"),
    ast.Tuple: ("a tuple", "return or store one value at a time"),
    ast.JoinedStr: ("a text", "use an enum"),
    ast.NamedExpr: ("':='", "assign on a line of its own"),
    ast.Await: ("await", "write one action for each atomic step"),
    ast.Yield: ("yield", "write one action for each atomic step"),
    ast.Starred: ("'*'", "write the arguments one by one"),
    ast.Slice: ("a slice", "write a loop or a filter [x for x in q if …]"),
    ast.GeneratorExp: ("a generator by itself", "put it inside any, all, sum, min, max or next"),
}


class Expressions(Calls):
    """Compiles the expressions of one function body; ``Statements`` adds the rest."""

    def operand(self, node: ast.expr) -> Operand:
        """Compile any expression."""
        match node:
            case ast.Constant():
                return self.constant(node.value, node)
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.BoolOp():
                items = [self.truth(v) for v in node.values]
                return conjunction(items) if isinstance(node.op, ast.And) else disjunction(items)
            case ast.UnaryOp(op=ast.Not()):
                return negation(self.condition(node.operand))
            case ast.UnaryOp(op=ast.USub()):
                return arithmetic("-", number(0), self.integer(node.operand))
            case ast.BinOp():
                return self.binary(node, node.op, self.operand(node.left), self.operand(node.right))
            case ast.Compare():
                return self.comparisons(node)
            case ast.IfExp():
                return self.conditional(node)
            case ast.Set():
                return self.set_literal(node.elts, node)
            case ast.SetComp():
                return self.set_comprehension(node)
            case ast.Call():
                return self.call(node)
            case _:
                what, remedy = REMEDIES.get(
                    type(node), (f"'{ast.unparse(node)}'", "see the language's reference")
                )
                raise self.error(node, f"{what} is not in the language; {remedy}")

    def truth(self, node: ast.expr) -> Expr:
        """An operand of ``and`` and ``or``: a bool."""
        operand = self.operand(node)
        if isinstance(operand, Nothing | EmptySet | Place | BoundMap) or not isinstance(
            operand.type, BoolType
        ):
            raise self.error(
                node, f"{self.describe(operand)} in 'and' or 'or'; write a comparison such as 'len(x) > 0'"
            )
        return operand

    def name(self, node: ast.Name) -> Operand:
        """A local name, or a constant of the module."""
        if node.id in self.names:
            return self.names[node.id]
        self.check_set(node)
        value = self.text.lookup(node.id)
        if value is MISSING:
            hint = near(node.id, [*self.names, *self.text.function.__globals__])
            raise self.error(node, f"'{node.id}' is not defined{hint}")
        if isinstance(value, type):
            raise self.error(
                node, f"class {node.id} is used as a value; use an instance or write 'for x in {node.id}'"
            )
        if callable(value):
            raise self.error(node, f"function {node.id} is used as a value; call it")
        return self.constant(value, node)

    def attribute(self, node: ast.Attribute) -> Operand:
        """A field of a record, a member of an enum, the number of an element."""
        cls = self.class_named(node.value)
        if cls is not None:
            if issubclass(cls, enum.Enum):
                if node.attr not in cls.__members__:
                    hint = near_or_all(node.attr, cls.__members__, "it has")
                    raise self.error(node, f"{cls.__name__} has no member '{node.attr}'{hint}")
                return self.constant(cls[node.attr], node)
            raise self.error(
                node, f"class {cls.__name__} is used as a value; use an instance, such as a parameter"
            )
        if isinstance(node.value, ast.Name) and isinstance(self.module_value(node.value), types.ModuleType):
            raise self.error(
                node, f"'{ast.unparse(node)}' is named through its module; import the name itself"
            )
        owner = self.operand(node.value)
        if isinstance(owner, Place) and isinstance(owner.type, RecordType):
            return self.field(owner, node.attr, node)
        if not isinstance(owner, Nothing | EmptySet | Place | BoundMap):
            type_ = owner.type.item if isinstance(owner.type, OptionalType) else owner.type
            if isinstance(type_, IndexType):
                if node.attr == "index":
                    return retyped(IntType(0, type_.size - 1), self.coerce(owner, type_, node.value))
                raise self.error(
                    node, f"an element of {type_} has no '{node.attr}', only its number: write '.index'"
                )
        raise self.error(node, f"{self.describe(owner)} has no field '{node.attr}'")

    def subscript(self, node: ast.Subscript) -> Operand:
        """An item of a map or sequence."""
        owner = self.operand(node.value)
        if isinstance(owner, BoundMap):
            key = self.coerce(self.operand(node.slice), owner.type.key, node.slice)
            return table(cast(ScalarType, owner.type.value), owner.values, (owner.type.key.size,), (key,))
        if isinstance(owner, Place) and isinstance(owner.type, MapType):
            key = self.coerce(self.operand(node.slice), owner.type.key, node.slice)
            return self.at(Place(owner.root, owner.type.value, owner.column, (*owner.indices, key)))
        if isinstance(owner, Place) and isinstance(owner.type, SeqType):
            if isinstance(node.slice, ast.Slice):
                raise self.error(
                    node, "a slice is not in the language; write a loop or a filter [x for x in q if …]"
                )
            index = self.index(node.slice, node.value)
            inside = conjunction(
                [comparison(">=", index, number(0)), comparison("<", index, self.length(owner))]
            )
            position = IntType(0, owner.type.capacity - 1)
            some = OptionalType(position)
            checked = Unwrap(
                position, choice(inside, Wrap(some, index, self.site(node)), Const(some, 0)), self.site(node)
            )
            return self.item(owner, checked)
        raise self.error(node, f"{self.describe(owner)} has no items; maps and sequences do")

    def binary(self, node: ast.AST, operator: ast.operator, left: Operand, right: Operand) -> Expr:
        """Arithmetic of ints, or an operation on sets."""
        sets = {ast.BitOr: "|", ast.BitAnd: "&", ast.Sub: "-", ast.BitXor: "^"}
        ints = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
        if type(operator) in sets and (self.is_set(left) or self.is_set(right)):
            type_ = self.set_type(left, right, node)
            return set_operation(
                sets[type(operator)], self.coerce(left, type_, node), self.coerce(right, type_, node)
            )
        if type(operator) not in ints:
            remedy = (
                "write '//'" if isinstance(operator, ast.Div) else "ints have + - * // %, sets have | & - ^"
            )
            raise self.error(node, f"operator '{symbol(operator)}' is not in the language; {remedy}")
        a, b = self.as_int(left, node), self.as_int(right, node)
        if isinstance(operator, ast.FloorDiv | ast.Mod) and not (isinstance(b, Const) and b.value > 0):
            raise self.error(
                node, "a division by something that is no positive constant; divide by a number or parameter"
            )
        result = arithmetic(ints[type(operator)], a, b)
        return result

    def comparisons(self, node: ast.Compare) -> Expr:
        """A chain of comparisons."""
        parts: list[Expr] = []
        left_node = node.left
        for operator, right_node in zip(node.ops, node.comparators, strict=True):
            parts.append(self.compare(operator, left_node, right_node, node))
            left_node = right_node
        return conjunction(parts)

    def compare(self, operator: ast.cmpop, left_node: ast.expr, right_node: ast.expr, node: ast.AST) -> Expr:
        """One comparison."""
        if isinstance(operator, ast.In | ast.NotIn):
            inside = self.contains(left_node, right_node, node)
            return inside if isinstance(operator, ast.In) else negation(inside)
        left, right = self.operand(left_node), self.operand(right_node)
        op = {
            ast.Eq: "==",
            ast.Is: "==",
            ast.NotEq: "!=",
            ast.IsNot: "!=",
            ast.Lt: "<",
            ast.LtE: "<=",
            ast.Gt: ">",
            ast.GtE: ">=",
        }[type(operator)]
        if op in ("==", "!="):
            same = self.equal(left, right, node)
            return same if op == "==" else negation(same)
        if self.is_set(left) or self.is_set(right):
            type_ = self.set_type(left, right, node)
            a, b = self.coerce(left, type_, node), self.coerce(right, type_, node)
            if op in (">", ">="):
                a, b = b, a
            inside = subset(a, b)
            return inside if op in ("<=", ">=") else conjunction([inside, comparison("!=", a, b)])
        a, b = self.ordered(left, node), self.ordered(right, node)
        if type(a.type) is not type(b.type) or (not isinstance(a.type, IntType) and a.type != b.type):
            raise self.error(
                node,
                f"a {self.describe(a)} is compared with a {self.describe(b)}; compare values of one type",
            )
        return comparison(op, a, b)

    def ordered(self, operand: Operand, node: ast.AST) -> Expr:
        """An operand of ``<`` and its kin."""
        if isinstance(operand, Nothing | EmptySet | Place | BoundMap):
            raise self.error(node, f"{self.describe(operand)} has no order; ints and elements have")
        if isinstance(operand.type, OptionalType):
            operand = self.unwrap(operand, node)
        if not isinstance(operand.type, IntType | IndexType):
            raise self.error(node, f"a {operand.type} has no order; ints and elements have")
        return operand

    def equal(self, left: Operand, right: Operand, node: ast.AST) -> Expr:
        """Whether two values are the same."""
        if isinstance(left, Place | BoundMap) or isinstance(right, Place | BoundMap):
            raise self.error(
                node, "whole records, maps or sequences are compared; compare their fields or items"
            )
        if isinstance(left, Nothing | EmptySet):
            left, right = right, left
        if isinstance(left, Nothing | EmptySet):
            return TRUE if type(left) is type(right) else FALSE
        if isinstance(right, Nothing):
            if not isinstance(left.type, OptionalType):
                raise self.error(node, f"a {self.describe(left)} is never None; leave the test out")
            return comparison("==", left, Const(left.type, 0))
        if isinstance(right, EmptySet):
            return comparison("==", left, self.coerce(right, left.type, node))
        if isinstance(left.type, IntType) and isinstance(right.type, IntType):
            return comparison("==", left, right)
        if left.type == right.type:
            return comparison("==", left, right)
        if isinstance(right.type, OptionalType) and not isinstance(left.type, OptionalType):
            left, right = right, left
        if isinstance(left.type, OptionalType) and not isinstance(right.type, OptionalType):
            if isinstance(left.type.item, IntType) and isinstance(right.type, IntType):
                present = comparison("!=", left, Const(left.type, 0))
                same = comparison("==", self.unwrap(left, node), right)
                return conjunction([*evaluated(right), present, same])
            if left.type.item == right.type:
                return comparison("==", left, self.wrap(right, left.type, node))
        raise self.error(
            node, f"a {self.describe(left)} is compared with a {self.describe(right)}; they are never equal"
        )

    def contains(self, left_node: ast.expr, right_node: ast.expr, node: ast.AST) -> Expr:
        """``left in right``."""
        if isinstance(right_node, ast.Tuple | ast.List | ast.Set):
            left = self.operand(left_node)
            items = [self.equal(left, self.operand(e), node) for e in right_node.elts]
            checks = [check for item in items[1:] for check in evaluated(item)]
            return conjunction([*checks, disjunction(items)])
        element, container = self.operand(left_node), self.operand(right_node)
        if isinstance(container, Place) and isinstance(container.type, SeqType):
            if not is_scalar(container.type.item):
                raise self.error(node, "'in' a sequence of records; write any(x.field == … for x in q)")
            variable = self.position(container)
            same = self.equal(element, self.item(container, variable), node)
            inside = comparison("<", variable, self.length(container))
            span = Span(0, container.type.capacity)
            found = Fold(BOOL, "any", variable, span, inside, same, None, None, None)
            known = isinstance(element, Nothing | EmptySet | Place | BoundMap)
            return found if known else conjunction([*evaluated(cast(Expr, element)), found])
        if isinstance(container, EmptySet):
            return FALSE
        if self.is_set(container):
            set_ = cast(Expr, container)
            item = cast(SetType, set_.type).item
            if isinstance(element, Nothing):
                raise self.error(node, f"None is never in a {set_.type}; leave the test out")
            if not isinstance(element, EmptySet | Place | BoundMap) and element.type == OptionalType(item):
                present = comparison("!=", element, Const(element.type, 0))
                return conjunction([*evaluated(set_), present, member(self.unwrap(element, node), set_)])
            return member(self.coerce(element, item, node), set_)
        raise self.error(node, f"'in' {self.describe(container)}; write it of a set or a sequence")

    def conditional(self, node: ast.IfExp) -> Operand:
        """``a if c else b``."""
        condition = self.condition(node.test)
        if isinstance(condition, Const):
            return self.operand(node.body if condition.value else node.orelse)
        then, otherwise = self.operand(node.body), self.operand(node.orelse)
        a, b = self.unified(then, otherwise, node)
        return choice(condition, a, b)

    def set_literal(self, elements: list[ast.expr], node: ast.AST) -> Operand:
        """``{a, b}``."""
        for e in elements:
            if isinstance(e, ast.Starred):
                raise self.error(e, "'*' is not in the language; write the union 'a | b'")
        return self.set_from([self.operand(e) for e in elements], node)


def symbol(operator: ast.operator) -> str:
    """An operator as Python writes it."""
    return ast.unparse(ast.BinOp(ast.Name("x"), operator, ast.Name("y")))[2:-2].strip()
