"""What is changed in a function's source before Python runs it, so that it does what the compiler says.

- A loop or comprehension goes through the elements of a set in order, which Python does not promise.
- A guard stops at its first condition that is false.
- What a local, a parameter or a result is annotated with is checked, as variables of the state are.
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Callable
from typing import Any

from slotproof.model.language.bind import WIDE, Binding
from slotproof.model.language.errors import LanguageError, ModelError, callers_line
from slotproof.model.language.source import Source
from slotproof.model.language.surface import require
from slotproof.model.language.types import BoolType, IntType, OptionalType, ScalarType

IN_ORDER, FITTING = "in_order.", "fitting."
"""Names that no user can write."""


def in_order(values: Any) -> Any:
    """What a loop goes through: the elements of a set by their numbers, anything else as it is."""
    return sorted(values, key=_rank) if isinstance(values, set | frozenset) else values


def _rank(element: Any) -> int:
    if isinstance(element, enum.Enum):
        return list(type(element)).index(element)
    rank: int = element.index
    return rank


def _fitting(type_: ScalarType, of_call: bool) -> Callable[[Any], Any]:
    """Checks a value against an annotation; the error stands at the call of the function if ``of_call``."""
    inner = type_.item if isinstance(type_, OptionalType) else type_

    def fitting(value: Any) -> Any:
        try:
            if value is None and not isinstance(type_, OptionalType):
                raise ModelError("an empty optional is read")
            if value is not None and isinstance(inner, IntType) and inner != WIDE:
                inner.encode(int(value))
        except ModelError as e:
            raise ModelError(e.message, callers_line(3) if of_call else None) from None
        return value

    return fitting


class _AsCompiled(ast.NodeTransformer):
    def __init__(self, source: Source, scope: dict[str, Any], binding: Binding) -> None:
        self.source = source
        self.scope = scope
        self.binding = binding
        self.returns = self._scalar(source.hints().get("return"))
        self.locals: dict[str, ScalarType] = {}
        scope[IN_ORDER] = in_order

    def function(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """The whole definition."""
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                type_ = self._scalar(self.source.annotation(node.annotation))
                if type_ is not None:
                    self.locals[node.target.id] = type_
        hints = self.source.hints()
        checks: list[ast.stmt] = []
        for argument in (*tree.args.args, *tree.args.kwonlyargs):
            type_ = self._scalar(hints.get(argument.arg))
            if type_ is not None:
                load = ast.copy_location(ast.Name(argument.arg, ast.Load()), argument)
                store = ast.copy_location(ast.Name(argument.arg, ast.Store()), argument)
                checks.append(
                    ast.copy_location(ast.Assign([store], self._checked(load, type_, True)), argument)
                )
        tree.body = [*checks, *(self.visit(statement) for statement in tree.body)]
        return tree

    def _scalar(self, annotation: Any) -> ScalarType | None:
        """The type that an annotation asks a check for."""
        if annotation is int:
            return WIDE
        try:
            type_ = self.binding.scalar_of(annotation, "annotation", None)
        except LanguageError:
            return None
        return None if isinstance(type_, BoolType) else type_

    def _checked(self, value: ast.expr, type_: ScalarType, of_call: bool = False) -> ast.expr:
        name = f"{FITTING}{type_}.{of_call}"
        self.scope[name] = _fitting(type_, of_call)
        return self._call(name, value)

    def _call(self, name: str, value: ast.expr) -> ast.expr:
        function = ast.copy_location(ast.Name(name, ast.Load()), value)
        return ast.copy_location(ast.Call(function, [value], []), value)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        guard = isinstance(node.func, ast.Name) and self.scope.get(node.func.id) is require
        if guard and len(node.args) > 1:
            node.args = [ast.copy_location(ast.BoolOp(ast.And(), node.args), node.args[0])]
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._call(IN_ORDER, node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._call(IN_ORDER, node.iter)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and node.target.id in self.locals and node.value is not None:
            node.value = self._checked(node.value, self.locals[node.target.id])
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self.locals:
            node.value = self._checked(node.value, self.locals[target.id])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or node.target.id not in self.locals:
            return node
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        checked = self._checked(value, self.locals[node.target.id])
        return ast.copy_location(ast.Assign([node.target], checked), node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None and self.returns is not None:
            node.value = self._checked(node.value, self.returns)
        return node


def as_compiled(
    source: Source, tree: ast.FunctionDef, scope: dict[str, Any], binding: Binding
) -> types.FunctionType:
    """The function of a definition of this source, in this scope."""
    tree = _AsCompiled(source, scope, binding).function(tree)
    tree.decorator_list = []
    for part in (*tree.args.args, *tree.args.kwonlyargs):
        part.annotation = None
    tree.returns = None
    defined: dict[str, Any] = {}
    exec(compile(ast.Module([tree], []), source.file, "exec"), scope, defined)
    function = defined[tree.name]
    assert isinstance(function, types.FunctionType)
    return function
