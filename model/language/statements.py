"""From the statements of a function of the language to blocks of the IR."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, cast

from slotproof.model.language import surface
from slotproof.model.language.bind import WIDE
from slotproof.model.language.columns import column_count
from slotproof.model.language.ir import (
    Assign,
    Block,
    Break,
    Call,
    Const,
    Continue,
    Decide,
    Die,
    Do,
    Expr,
    For,
    If,
    Local,
    Return,
    Statement,
)
from slotproof.model.language.operands import (
    EmptySet,
    Nothing,
    Operand,
    Place,
)
from slotproof.model.language.sequences import Sequences
from slotproof.model.language.source import MISSING
from slotproof.model.language.types import (
    IntType,
    ScalarType,
    SeqType,
)

STATEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.While: ("a while loop", "write 'for x in' a domain, set or sequence"),
    ast.Try: ("try", "test for the case with 'if'"),
    ast.With: ("with", "write the statements by themselves"),
    ast.Global: ("global", "declare a field of the state"),
    ast.Nonlocal: ("nonlocal", "declare a field of the state"),
    ast.Delete: ("del", "assign None, or remove the item of a sequence"),
    ast.Assert: ("assert", "write 'crash(\"cause\")' under an 'if', or 'some(x)' for an optional"),
    ast.Raise: ("raise", "write 'crash(\"cause\")'"),
    ast.Import: ("an import inside a function", "import at the top of the file"),
    ast.ImportFrom: ("an import inside a function", "import at the top of the file"),
    ast.FunctionDef: ("a function inside a function", "define it in the module"),
    ast.ClassDef: ("a class inside a function", "define it in the module"),
    ast.AsyncFor: ("async", "write one action for each atomic step"),
    ast.Match: ("match", "write 'if' and 'elif'"),
}


class Statements(Sequences):
    """Compiles the statements of one function body.

    ``returns`` is the type that a ``return`` has to give, ``None`` for an action or procedure;
    ``writable`` says whether the state may be changed (not in guards and properties).
    """

    returns: ScalarType | None = None

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.unset: set[str] = set()
        self._locals: dict[str, Local] = {}

    def check_set(self, node: ast.Name) -> None:
        """Report a local that has a value on some ways here only."""
        if node.id in self.unset:
            raise self.error(node, f"'{node.id}' may have no value here; give it one before the 'if' or loop")

    def block(self, statements: list[ast.stmt]) -> tuple[list[Statement], bool]:
        """Compile statements; also whether the end of the block can be reached."""
        result: list[Statement] = []
        for statement in statements:
            compiled, goes_on = self.statement(statement)
            result.extend(compiled)
            if not goes_on:
                return result, False
        return result, True

    def statement(self, node: ast.stmt) -> tuple[list[Statement], bool]:
        """Compile one statement; also whether execution can go on after it."""
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return [], True
            case ast.Expr(value=ast.Call()):
                return self.call_statement(cast(ast.Call, node.value))
            case ast.Assign():
                return self.assignment(node), True
            case ast.AnnAssign():
                return self.annotated(node), True
            case ast.AugAssign():
                return self.augmented(node), True
            case ast.If():
                return self.branch(node)
            case ast.For():
                return self.loop(node), True
            case ast.Return():
                return [Return(self.returned(node))], False
            case ast.Break() | ast.Continue():
                return [Break() if isinstance(node, ast.Break) else Continue()], False
            case ast.Expr():
                raise self.error(
                    node, f"the value of '{ast.unparse(node)}' is not used; assign it or leave it out"
                )
            case _:
                what, remedy = STATEMENTS.get(
                    type(node), (f"'{type(node).__name__.lower()}'", "see the reference")
                )
                raise self.error(node, f"{what} is not in the language; {remedy}")

    def returned(self, node: ast.Return) -> Expr | None:
        """The value of a ``return``."""
        if self.returns is None:
            if node.value is not None and not (
                isinstance(node.value, ast.Constant) and node.value.value is None
            ):
                raise self.error(
                    node, f"{self.text.name} returns a value; annotate it '-> type' (an action returns None)"
                )
            return None
        if node.value is None:
            raise self.error(
                node, f"{self.text.name} returns nothing here; return a {self.named(self.returns)}"
            )
        return self.fitted(self.operand(node.value), self.returns, node)

    def branch(self, node: ast.If) -> tuple[list[Statement], bool]:
        """``if``: of a known condition only the branch that is taken."""
        condition = self.condition(node.test)
        if isinstance(condition, Const):
            return self.block(node.body if condition.value else node.orelse)
        names = dict(self.names)
        then, then_on = self.block(node.body)
        then_names = self.names
        self.names = dict(names)
        otherwise, otherwise_on = self.block(node.orelse)
        self.names = self.joined(names, then_names if then_on else None, self.names if otherwise_on else None)
        return [If(condition, tuple(then), tuple(otherwise))], then_on or otherwise_on

    def joined(
        self,
        before: dict[str, Operand],
        then: dict[str, Operand] | None,
        otherwise: dict[str, Operand] | None,
    ) -> dict[str, Operand]:
        """The names that have a value after a branch, whichever way was taken."""
        ways = [w for w in (then, otherwise) if w is not None]
        if not ways:
            return before
        for way in ways:
            self.unset |= {n for n in way if any(n not in other for other in ways)}
        kept = {n: o for n, o in ways[0].items() if all(n in w and w[n] == o for w in ways)}
        self.unset |= set(ways[0]) - set(kept)
        return kept

    def loop(self, node: ast.For) -> list[Statement]:
        """``for x in`` a domain, enum, set, map, sequence or range."""
        if node.orelse:
            raise self.error(node, "'else' of a loop is not in the language; use a local bool")
        if not isinstance(node.target, ast.Name):
            raise self.error(node, "a loop whose variable is no plain name; write 'for x in …'")
        variable, source, inside, meaning = self.source(node.iter, node.target.id)
        meaning = self.only(variable, source, meaning)
        names = dict(self.names)
        held: list[Statement] = []
        if inside is not None and not isinstance(meaning, Place | Const):
            local = Local(cast(Expr, meaning).type, self.fresh(node.target.id))
            held = [Assign(local, cast(Expr, meaning))]
            meaning = local
        with self.bound(node.target.id, meaning):
            body, _ = self.block(node.body)
        body = [*held, *body]
        self.unset |= {n for n in self.names if n not in names} | {node.target.id}
        self.names = names
        if inside is not None:
            self.check_untouched(node, tuple(body))
            body = [If(inside, tuple(body), ())]
        return [For(variable, source, tuple(body))]

    def check_untouched(self, node: ast.For, body: Block) -> None:
        """A loop over a sequence must not change it."""
        over = self.operand(node.iter)
        if isinstance(over, Place) and isinstance(over.type, SeqType):
            own = range(over.column, over.column + column_count(over.type))
            if any(c in own for c in self.compiler.written(body)):
                raise self.error(
                    node,
                    "the loop changes the sequence that it goes over; "
                    "collect a set and filter the sequence afterwards",
                )

    def assignment(self, node: ast.Assign) -> list[Statement]:
        """``target = value``."""
        if len(node.targets) != 1:
            raise self.error(node, "a chain of assignments; write one line for each")
        target = node.targets[0]
        if isinstance(target, ast.Tuple | ast.List):
            raise self.error(node, "several targets at once; write one line for each")
        taken = self.taken(node.value)
        if taken is not None:
            place, index = taken
            value = self.item(place, index)
            if isinstance(value, Place):
                raise self.error(
                    node, "a record is taken from a sequence; read the fields of q[0], then write 'q.pop(0)'"
                )
            local = Local(cast(Expr, value).type, self.fresh("taken"))
            return [
                *self.check_index(place, index, node),
                Assign(local, cast(Expr, value)),
                *self.removal(place, index),
                *self.store(target, local, node),
            ]
        if isinstance(node.value, ast.ListComp | ast.List):
            return self.sequence_assignment(_without_slice(target), node.value, node)
        if isinstance(node.value, ast.Call) and self.record_class(node.value) is not None:
            return self.record_assignment(target, node.value, node)
        return self.store(target, self.operand(node.value), node)

    def annotated(self, node: ast.AnnAssign) -> list[Statement]:
        """``name: type = value``."""
        if not isinstance(node.target, ast.Name) or node.value is None:
            raise self.error(
                node,
                "an annotation of something that is no local name with a value; write 'name: type = value'",
            )
        annotation = self.text.annotation(node.annotation)
        if annotation is int:
            type_: ScalarType = WIDE
        else:
            type_ = self.compiler.binding.scalar_of(annotation, f"'{node.target.id}'", self.text.site(node))
        value = self.fitted(self.operand(node.value), type_, node)
        return [Assign(self.declare(node.target.id, type_), value)]

    def augmented(self, node: ast.AugAssign) -> list[Statement]:
        """``target += value`` and its kin."""
        load = ast.parse(ast.unparse(node.target), mode="eval").body
        for part in ast.walk(load):
            ast.copy_location(part, node.target)
        value = self.binary(node, node.op, self.operand(load), self.operand(node.value))
        return self.store(node.target, value, node)

    def store(self, target: ast.expr, value: Operand, node: ast.AST) -> list[Statement]:
        """Put a value into a local or a variable of the state."""
        if isinstance(target, ast.Name):
            return self.store_local(target, value, node)
        cell = self.cell(target)
        return [self.write(cell, value, node)]

    def store_local(self, target: ast.Name, value: Operand, node: ast.AST) -> list[Statement]:
        known = self.names.get(target.id)
        if isinstance(value, Place):
            raise self.error(
                node,
                f"'{target.id}' would be another name of a {value.type} of the state; "
                "write the whole path, or a function of it",
            )
        if isinstance(known, Local):
            return [Assign(known, self.fitted(value, known.type, node))]
        if known is not None:
            raise self.error(
                node, f"'{target.id}' is a loop's or parameter's name of one value; use another name"
            )
        if isinstance(value, Nothing | EmptySet):
            raise self.error(
                node,
                f"'{target.id}' starts as {self.describe(value)}, of no type; write '{target.id}: type = …'",
            )
        expression = cast(Expr, value)
        type_ = WIDE if isinstance(expression.type, IntType) else expression.type
        return [Assign(self.declare(target.id, type_), expression)]

    def declare(self, name: str, type_: ScalarType) -> Local:
        """The local of a name from here on; the same one on every branch that gives it this type."""
        local = self._locals.get(name)
        if local is None or local.type != type_:
            local = self._locals[name] = Local(type_, self.fresh(name))
        self.names[name] = local
        self.unset.discard(name)
        return local

    def call_statement(self, node: ast.Call) -> tuple[list[Statement], bool]:
        """A call on a line of its own."""
        if isinstance(node.func, ast.Attribute) and not self.is_module(node.func.value):
            return self.method(node, node.func), True
        if isinstance(node.func, ast.Name) and node.func.id not in self.names:
            value = self.text.lookup(node.func.id)
            if value is surface.crash:
                return [self.crash(node)], False
            if value is surface.reset:
                return self.reset(node), True
            if value is surface.require:
                raise self.error(
                    node, "'require' stands only at the top of an action, before any other statement"
                )
            known: Callable[..., Any] | None = None if value is MISSING else value
            if known is not None and not isinstance(known, type) and self.builtin(known, node) is None:
                return self.procedure(known, node), True
        self.operand(node)
        raise self.error(node, f"the value of '{ast.unparse(node)}' is not used; assign it or leave it out")

    def procedure(self, value: Any, node: ast.Call) -> list[Statement]:
        """A call of a helper for its effect."""
        call = self.compiler.call(value, self, node, effect=True)
        return [Do(cast(Call | Decide, call))]

    def crash(self, node: ast.Call) -> Statement:
        """``crash("cause")``."""
        argument = node.args[0] if len(node.args) == 1 else None
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            raise self.error(node, "crash() takes one text, the cause")
        if not self.writable:
            raise self.error(node, "'crash' stands only in the effect of an action")
        return Die(self.compiler.cause(argument.value))


def _without_slice(target: ast.expr) -> ast.expr:
    """The sequence of ``q[:]``; any other target as it is."""
    match target:
        case ast.Subscript(value, ast.Slice(None, None, None)):
            return value
        case _:
            return target
