"""Helper functions and decisions: compiled once for each combination of argument types and places."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, cast

from slotproof.model.language import surface
from slotproof.model.language.bind import WIDE, Binding
from slotproof.model.language.columns import Valuation, columns_of
from slotproof.model.language.conversions import Conversions
from slotproof.model.language.errors import LanguageError, Site
from slotproof.model.language.ir import (
    Block,
    Call,
    Const,
    Decide,
    Expr,
    Function,
    Local,
    Read,
    Write,
)
from slotproof.model.language.operands import BOOL, Operand, Place
from slotproof.model.language.program import Point, Premise
from slotproof.model.language.source import Source
from slotproof.model.language.statements import Statements
from slotproof.model.language.system import System
from slotproof.model.language.types import RecordType, ScalarType, ValueType
from slotproof.model.language.values import State
from slotproof.model.language.walk import expressions_of, statements_of

Signature = tuple[Any, ...]


class Functions:
    """What is shared by all bodies of one compilation: helpers, sites, premises, crash causes.

    ``constant_columns`` are those that no action writes, with their codes; ``texts`` are sources that were
    read in an earlier pass.
    """

    def __init__(
        self,
        system: System,
        constant_columns: dict[int, Valuation],
        texts: dict[Callable[..., Any], Source] | None = None,
    ) -> None:
        self.system = system
        self.binding = Binding(system.name, system.parameters)
        self.constant_columns = constant_columns
        if not (isinstance(system.state, type) and issubclass(system.state, State)):
            raise LanguageError(
                f"system {system.name}: state is {system.state!r}; write a subclass of State", system.site
            )
        self.state = self.binding.record(system.state)
        self.columns = columns_of(self.state)
        self.sites: list[Site] = []
        self.premises: list[Premise] = []
        self.crashes: list[str] = []
        self.functions: list[Function | None] = []
        self._instances: dict[Signature, int] = {}
        self._results: dict[int, ScalarType | None] = {}
        self._active: list[Callable[..., Any]] = []
        self._alternatives = {d.point: d.functions for d in system.decisions}
        self._points: dict[str, int] = {}
        self._decisions: list[Point] = []
        self._texts = {} if texts is None else texts
        self._written: dict[int, frozenset[int]] = {}

    def text(self, function: Callable[..., Any]) -> Source:
        """The source of a function, read once."""
        if function not in self._texts:
            self._texts[function] = Source(function)
        return self._texts[function]

    def site(self, site: Site) -> int:
        """The number of a place of model errors."""
        if site not in self.sites:
            self.sites.append(site)
        return self.sites.index(site)

    def premise(self, property_name: str | None, site: Site) -> int:
        """The number of an implication's premise."""
        entry = Premise(property_name or "", site)
        if entry not in self.premises:
            self.premises.append(entry)
        return self.premises.index(entry)

    def cause(self, name: str) -> int:
        """The number of a crash cause."""
        if name not in self.crashes:
            self.crashes.append(name)
        return self.crashes.index(name)

    def call(
        self, value: Any, body: Conversions, node: ast.Call, effect: bool = False
    ) -> Call | Decide | None:
        """A call of a helper or decision, compiled for the types of its arguments."""
        if isinstance(value, surface.Decision):
            return self._decide(value, body, node, effect)
        if isinstance(value, surface.Action | surface.Property | surface.Witness):
            raise body.error(node, f"{value} is called; write a helper function that both use")
        if not hasattr(value, "__code__"):
            raise body.error(node, f"'{ast.unparse(node.func)}' is no function of the language")
        number, arguments = self._instance(value, body, node)
        returns = self._results[number]
        if returns is None and not effect:
            return None
        if returns is not None and effect:
            raise body.error(
                node, f"the value of '{ast.unparse(node)}' is not used; assign it or leave it out"
            )
        return Call(returns or BOOL, number, arguments)

    def _decide(
        self, point: surface.Decision[..., Any], body: Conversions, node: ast.Call, effect: bool
    ) -> Decide | None:
        functions = self._alternatives.get(point)
        if not functions:
            raise body.error(
                node, f"{point} has no alternatives; list them in System(decisions=[Alternatives(…)])"
            )
        compiled = [self._instance(f, body, node) for f in functions]
        returns = self._results[compiled[0][0]]
        for function, (number, _) in zip(functions, compiled, strict=True):
            if self._results[number] != returns:
                raise body.error(
                    node, f"alternative {function.__name__} of {point} returns another type than the first"
                )
        if returns is None and not effect:
            return None
        if point.name not in self._points:
            self._points[point.name] = len(self._decisions)
            self._decisions.append(Point(point.name, tuple(f.__name__ for f in functions)))
        return Decide(
            returns or BOOL, self._points[point.name], tuple(n for n, _ in compiled), compiled[0][1]
        )

    def _instance(
        self, function: Callable[..., Any], body: Conversions, node: ast.Call
    ) -> tuple[int, tuple[Expr, ...]]:
        """The number of a function compiled for these arguments, and the scalars to pass."""
        text = self.text(function)
        if function in self._active:
            raise body.error(
                node, f"{text.name} calls itself; recursion is not in the language, write a loop"
            )
        hints = text.hints()
        given = self._arguments(text, body, node)
        parameters: list[Local] = []
        passed: list[Expr] = []
        names: dict[str, Operand] = {}
        key: list[Any] = [function]
        for name, argument in given.items():
            operand = (
                body.operand(argument) if isinstance(argument, ast.expr) else body.constant(argument, node)
            )
            if name not in hints:
                raise LanguageError(
                    f"{text.name}: parameter '{name}' has no type; write '{name}: type'", text.site(text.tree)
                )
            if isinstance(operand, Place):
                indices = []
                for i, index in enumerate(operand.indices):
                    if isinstance(index, Const):
                        indices.append(cast(Expr, index))
                    else:
                        local = Local(index.type, f"{name}[{i}]")
                        parameters.append(local)
                        passed.append(index)
                        indices.append(local)
                self._check_place(hints[name], operand.type, name, text, body, node)
                names[name] = Place(operand.root, operand.type, operand.column, tuple(indices))
                key.append((name, names[name]))
                continue
            expression = self._scalar_argument(operand, hints[name], name, text, body, node)
            if isinstance(expression, Const):
                names[name] = expression
                key.append((name, expression))
                continue
            local = Local(expression.type, name)
            parameters.append(local)
            passed.append(expression)
            names[name] = local
            key.append((name, expression.type))
        signature = (*key, getattr(body, "writable", True))
        if signature not in self._instances:
            number = len(self.functions)
            self.functions.append(None)
            self._instances[signature] = number
            self._active.append(function)
            self._results[number] = self._returns(text, hints)
            self.functions[number] = self._function(text, hints, parameters, names, body)
            self._active.pop()
        return self._instances[signature], tuple(passed)

    def _arguments(self, text: Source, body: Conversions, node: ast.Call) -> dict[str, Any]:
        """Arguments by parameter name: expressions, or constants where a default is taken."""
        spec = text.tree.args
        if spec.vararg or spec.kwarg or spec.posonlyargs:
            raise LanguageError(f"{text.name}: '*' parameters are not in the language", text.site(text.tree))
        names = [a.arg for a in spec.args + spec.kwonlyargs]
        given: dict[str, Any] = {}
        if len(node.args) > len(spec.args):
            raise body.error(
                node, f"{text.name} takes {len(spec.args)} arguments, {len(node.args)} are given"
            )
        for name, argument in zip(names, node.args, strict=False):
            if isinstance(argument, ast.Starred):
                raise body.error(argument, "'*' is not in the language; write the arguments one by one")
            given[name] = argument
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg not in names or keyword.arg in given:
                raise body.error(node, f"{text.name} has no parameter '{keyword.arg}' left to give")
            given[keyword.arg] = keyword.value
        defaults = dict(
            zip(
                reversed([a.arg for a in spec.args]), reversed(text.function.__defaults__ or ()), strict=False
            )
        )
        defaults.update(text.function.__kwdefaults__ or {})
        for name in names:
            if name not in given:
                if name not in defaults:
                    raise body.error(node, f"{text.name} needs an argument '{name}'")
                given[name] = defaults[name]
        return {name: given[name] for name in names}

    def _check_place(
        self, hint: Any, type_: ValueType, name: str, text: Source, body: Conversions, node: ast.Call
    ) -> None:
        expected = self.binding.type_of(hint, text.site(text.tree))
        extended = (
            isinstance(expected, RecordType)
            and isinstance(type_, RecordType)
            and issubclass(type_.cls, expected.cls)
        )
        if expected != type_ and not extended:
            raise body.error(node, f"parameter '{name}' of {text.name} is a {expected}, a {type_} is given")

    def _scalar_argument(
        self, operand: Operand, hint: Any, name: str, text: Source, body: Conversions, node: ast.Call
    ) -> Expr:
        if hint is int:
            expected: ScalarType = WIDE
        else:
            expected = self.binding.scalar_of(
                hint, f"parameter '{name}' of {text.name}", text.site(text.tree)
            )
        return body.fitted(operand, expected, node)

    def _returns(self, text: Source, hints: dict[str, Any]) -> ScalarType | None:
        if "return" not in hints:
            raise LanguageError(
                f"{text.name} has no result type; write '-> bool', '-> None', …", text.site(text.tree)
            )
        if hints["return"] is type(None):
            return None
        if hints["return"] is int:
            return WIDE
        return self.binding.scalar_of(hints["return"], f"the result of {text.name}", text.site(text.tree))

    def _function(
        self,
        text: Source,
        hints: dict[str, Any],
        parameters: list[Local],
        names: dict[str, Operand],
        caller: Conversions,
    ) -> Function:
        body = Statements(self, text, None)
        body.returns = self._returns(text, hints)
        body.writable = getattr(caller, "writable", True)
        for local in parameters:
            body.fresh(local.name)
        body.names = names
        statements, goes_on = body.block(text.body)
        if goes_on and body.returns is not None:
            raise LanguageError(
                f"{text.name} can end without 'return'; return a value on every way", text.site(text.tree)
            )
        return Function(text.name, tuple(parameters), body.returns, tuple(statements))

    def written(self, block: Block) -> set[int]:
        """The columns that a block writes, helpers included."""
        found: set[int] = set()
        for statement in statements_of(block):
            if isinstance(statement, Write):
                found.add(statement.column)
            for expression in expressions_of(statement):
                if isinstance(expression, Call):
                    found |= self._written_by(expression.function)
                elif isinstance(expression, Decide):
                    for f in expression.functions:
                        found |= self._written_by(f)
        return found

    def _written_by(self, number: int) -> frozenset[int]:
        if number not in self._written:
            function = self.functions[number]
            self._written[number] = frozenset(self.written(function.body)) if function else frozenset()
        return self._written[number]

    def read_elsewhere(self, condition: Expr, own: set[int], own_indices: tuple[Expr, ...]) -> bool:
        """Whether an expression reads one of these columns at another place than its own item."""
        for e in expressions_of(condition):
            if isinstance(e, Read) and e.column in own and e.indices != own_indices:
                return True
            if isinstance(e, Call | Decide):
                numbers = (e.function,) if isinstance(e, Call) else e.functions
                if any(self._reads(n) & own for n in numbers):
                    return True
        return False

    def _reads(self, number: int) -> set[int]:
        function = self.functions[number]
        found: set[int] = set()
        for statement in statements_of(function.body if function else ()):
            for e in expressions_of(statement):
                if isinstance(e, Read):
                    found.add(e.column)
                elif isinstance(e, Call | Decide):
                    for n in (e.function,) if isinstance(e, Call) else e.functions:
                        found |= self._reads(n)
        return found
