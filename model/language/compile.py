"""Compile a system: read the source of its actions and properties, type it, and build the IR.

Compilation is repeated until nothing changes: columns that no action writes are constants, and
branches, actions and further columns that depend on them vanish. What a scenario leaves out costs
nothing.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, cast

from slotproof.model.language import surface
from slotproof.model.language.columns import Valuation
from slotproof.model.language.domains import Parameter
from slotproof.model.language.errors import LanguageError, Site
from slotproof.model.language.functions import Functions
from slotproof.model.language.ir import (
    Action,
    Assign,
    Block,
    Conjunct,
    Const,
    Expr,
    For,
    Function,
    If,
    Local,
    Property,
    Return,
    Statement,
    Witness,
)
from slotproof.model.language.link import parameters_of
from slotproof.model.language.liveness import check_assumptions, fair_sets, progress_of
from slotproof.model.language.operands import BOOL, FALSE, TRUE, Operand, Place
from slotproof.model.language.program import Program
from slotproof.model.language.source import Source, parts_of
from slotproof.model.language.statements import Statements
from slotproof.model.language.system import System
from slotproof.model.language.types import BoolType
from slotproof.model.language.values import State
from slotproof.model.language.walk import statements_of


def compile_system(system: System) -> Program:
    """The program of a system; ``LanguageError`` names the user's file and line where it is wrong."""
    parameters = parameters_of(system)
    constant: dict[int, Valuation] = {}
    texts: dict[Callable[..., Any], Source] = {}
    while True:
        compiler = Compiler(system, constant, texts)
        compiler.binding.check_names(parameters)
        _check_unique(system)
        steps = compiler.steps()
        written = compiler.all_written(steps)
        unwritten = {i: column.initial for i, column in enumerate(compiler.columns) if i not in written}
        if unwritten == constant:
            return compiler.program(steps, parameters)
        constant = unwritten


@dataclass(frozen=True, slots=True)
class Steps:
    """What changes the state, compiled: all else of a program is read from that."""

    initial: tuple[Action, ...]
    actions: tuple[tuple[surface.Action[Any], Action], ...]
    """Of the actions that can happen."""
    dropped: tuple[str, ...]
    """The names of those whose guard is false whatever the state."""


class Compiler(Functions):
    """One pass over a system, with the columns that are known to be constant."""

    def roots(self, text: Source, names: Sequence[str], roots: Sequence[str]) -> dict[str, Operand]:
        """The state parameters of a function, by name."""
        hints = text.hints()
        found: dict[str, Operand] = {}
        for name, root in zip(names, roots, strict=True):
            hint = hints.get(name)
            if not (
                isinstance(hint, type) and issubclass(self.system.state, hint) and issubclass(hint, State)
            ):
                raise LanguageError(
                    f"{text.name}: parameter '{name}' has to be the state; "
                    f"write '{name}: {self.system.state.__name__}'",
                    text.site(text.tree),
                )
            found[name] = Place(cast(Any, root), self.state, 0, ())
        return found

    def parameter_names(self, text: Source) -> list[str]:
        """The names of a function's parameters."""
        spec = text.tree.args
        if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs or spec.defaults:
            raise LanguageError(
                f"{text.name}: parameters are plain names with types; write 'name: type'",
                text.site(text.tree),
            )
        return [a.arg for a in spec.args]

    def ranged(self, text: Source, names: Sequence[str]) -> list[Local]:
        """Parameters that range over a finite type."""
        hints = text.hints()
        result = []
        for name in names:
            if name not in hints:
                raise LanguageError(
                    f"{text.name}: parameter '{name}' has no type; write '{name}: type'", text.site(text.tree)
                )
            try:
                type_ = self.binding.scalar_of(hints[name], f"parameter '{name}'", None)
            except LanguageError as e:
                raise LanguageError(
                    f"{text.name}: parameter '{name}': {e.message}", text.site(text.tree)
                ) from None
            if type_.size > 2**20:
                raise LanguageError(
                    f"{text.name}: parameter '{name}' has {type_.size} values; at most 2^20",
                    text.site(text.tree),
                )
            result.append(Local(type_, name))
        return result

    def action(self, declared: surface.Action[Any]) -> Action:
        """An action or initial function in the IR."""
        text = self.text(declared.function)
        names = self.parameter_names(text)
        if not names:
            raise LanguageError(
                f"{text.name} has no state parameter; "
                f"write 'def {text.name}(s: {self.system.state.__name__}, …) -> None'",
                text.site(text.tree),
            )
        if text.hints().get("return", type(None)) is not type(None):
            raise LanguageError(
                f"{text.name} is an action and returns nothing; write '-> None'", text.site(text.tree)
            )
        body = Statements(self, text, None)
        body.names = self.roots(text, names[:1], ["state"])
        parameters = self.ranged(text, names[1:])
        for local in parameters:
            body.fresh(local.name)
            single = local.type.size == 1
            low = local.type.low
            body.names[local.name] = Const(local.type, low) if single else local
        guard, effect = self._split(body, text)
        body.writable = True
        statements, _ = body.block(effect)
        return Action(text.name, tuple(parameters), tuple(guard), tuple(statements))

    def _split(self, body: Statements, text: Source) -> tuple[list[Conjunct], list[ast.stmt]]:
        """The guard's conjuncts, and the statements of the effect."""
        conjuncts: list[Conjunct] = []
        body.writable = False
        statements = text.body
        for i, statement in enumerate(statements):
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and text.lookup(call.func.id) is surface.require
            ):
                return conjuncts, statements[i:]
            if not call.args or call.keywords:
                raise body.error(call, "require() takes one condition or several: require(a, b)")
            for argument in call.args:
                conjuncts.extend(self._conjuncts(body, text, argument))
        return conjuncts, []

    def _conjuncts(self, body: Statements, text: Source, node: ast.expr) -> list[Conjunct]:
        return [Conjunct(body.condition(part), text.site(part)) for part in parts_of(node)]

    def property(self, declared: surface.Property, actions: Sequence[surface.Action[Any]]) -> Property:
        """A property in the IR."""
        assert declared.over != "run"
        text = self.text(declared.function)
        names = self.parameter_names(text)
        over: Literal["state", "step"] = "step" if declared.over == "step" else "state"
        count = 1 if over == "state" else 2
        if len(names) < count:
            needed = "the state" if count == 1 else "'before' and 'after'"
            raise LanguageError(f"{text.name}: a property needs {needed} as parameters", text.site(text.tree))
        body = Statements(self, text, declared.name)
        body.writable = False
        body.names = self.roots(text, names[:count], ["state"] if count == 1 else ["before", "after"])
        numbers: tuple[int, ...] | None = None
        parameters = self.ranged(text, names[count:])
        if declared.on is not None:
            numbers = tuple(actions.index(a) for a in declared.on if a in actions)
            for a in declared.on:
                self._check_same_parameters(a, parameters, text)
        elif parameters and declared.over != "way":
            raise LanguageError(
                f"{text.name}: '{parameters[0].name}' is no state; a property about an action's parameters "
                "is marked '@step_invariant(on=action)'",
                text.site(text.tree),
            )
        for local in parameters:
            body.fresh(local.name)
            low = local.type.low
            body.names[local.name] = Const(local.type, low) if local.type.size == 1 else local
        setup, conjuncts = self.judgement(body, text)
        return Property(declared.name, over, numbers, tuple(parameters), setup, conjuncts)

    def _check_same_parameters(
        self, action: surface.Action[Any], parameters: list[Local], text: Source
    ) -> None:
        of_action = self.ranged(
            self.text(action.function), self.parameter_names(self.text(action.function))[1:]
        )
        if parameters and [p.type for p in parameters] != [p.type for p in of_action]:
            shown = ", ".join(f"{p.name}: {p.type}" for p in of_action)
            raise LanguageError(
                f"{text.name}: {action} has the parameters ({shown}); write all of them or none",
                text.site(text.tree),
            )

    def judgement(self, body: Statements, text: Source) -> tuple[Block, tuple[Conjunct, ...]]:
        """The statements before the final ``return``, and the parts of what it returns."""
        if text.hints().get("return") is not bool:
            raise LanguageError(f"{text.name} is true or false; write '-> bool'", text.site(text.tree))
        body.returns = BoolType()
        statements = text.body
        last = statements[-1] if statements else None
        returns = [n for s in statements for n in ast.walk(s) if isinstance(n, ast.Return)]
        if isinstance(last, ast.Return) and last.value is not None and returns == [last]:
            setup, _ = body.block(statements[:-1])
            return tuple(setup), tuple(self._conjuncts(body, text, last.value))
        compiled, goes_on = body.block(statements)
        if goes_on:
            raise LanguageError(
                f"{text.name} can end without 'return'; return a bool on every way", text.site(text.tree)
            )
        verdict = Local(BOOL, body.fresh("verdict"))
        block = returning_into(tuple(compiled), verdict)
        return (Assign(verdict, TRUE), *block), (Conjunct(verdict, text.site(text.tree)),)

    def witness(self, declared: surface.Witness) -> Witness:
        """A witness in the IR."""
        text = self.text(declared.function)
        setup, condition = self.predicate(text)
        return Witness(declared.name, setup, condition)

    def predicate(self, text: Source) -> tuple[Block, Expr]:
        """A condition on a state."""
        body = Statements(self, text, None)
        body.writable = False
        names = self.parameter_names(text)
        if len(names) != 1:
            raise LanguageError(f"{text.name} takes the state and nothing else", text.site(text.tree))
        body.names = self.roots(text, names, ["state"])
        setup, conjuncts = self.judgement(body, text)
        conditions = tuple(c.condition for c in conjuncts)
        from slotproof.model.language.operands import conjunction

        return setup, conjunction(list(conditions))

    def steps(self) -> Steps:
        """Compile the actions and initial functions."""
        compiled = [(a, self.action(a)) for a in self.system.actions]
        never = [any(g.condition == FALSE for g in c.guard) for _, c in compiled]
        return Steps(
            tuple(self.action(a) for a in self.system.initial),
            tuple(pair for pair, barred in zip(compiled, never, strict=True) if not barred),
            tuple(a.name for (a, _), barred in zip(compiled, never, strict=True) if barred),
        )

    def program(self, steps: Steps, declared: Mapping[str, Parameter]) -> Program:
        """Compile the rest."""
        system = self.system
        runs = [p for p in system.properties if p.over == "run"]
        possible = [a for a, _ in steps.actions]
        properties = tuple(self.property(p, possible) for p in system.properties if p not in runs)
        on_the_way = tuple(self.property(p, possible) for p in system.on_the_way)
        progress = tuple(progress_of(self, p) for p in runs)
        fairness = [fair_sets(self, f, {c.name: c for _, c in steps.actions}) for f in system.fairness]
        check_assumptions(system.name, [(p.name, self._site(p)) for p in runs], bool(fairness))
        witnesses = tuple(self.witness(w) for w in system.witnesses)
        final = None
        if system.final is not None:
            setup, final = self.predicate(self.text(system.final))
            if setup:
                raise LanguageError(
                    f"{system.final.__name__} has to be one 'return' line",
                    self.text(system.final).site(self.text(system.final).tree),
                )
        parameters = {n: self.binding.value(p) for n, p in declared.items()}
        functions = tuple(cast(Function, f) for f in self.functions)
        actions = tuple(c for _, c in steps.actions)
        assumed = tuple(f for f in fairness if f is not None)
        content = (
            self.columns,
            functions,
            tuple(self._decisions),
            tuple(self.crashes),
            steps.initial,
            actions,
            properties,
            witnesses,
            final,
            *((progress, assumed) if progress or assumed else ()),
            *on_the_way,
        )
        return Program(
            name=system.name,
            digest=digest(content),
            system=system,
            parameters=parameters,
            state=self.state,
            columns=self.columns,
            functions=functions,
            decisions=tuple(self._decisions),
            crashes=tuple(self.crashes),
            sites=tuple(self.sites),
            premises=tuple(self.premises),
            initial=steps.initial,
            actions=actions,
            properties=properties,
            witnesses=witnesses,
            final=final,
            dropped=steps.dropped,
            on_the_way=on_the_way,
            progress=progress,
            fairness=assumed,
        )

    def _site(self, declared: surface.Property) -> Site:
        text = self.text(declared.function)
        return text.site(text.tree)

    def all_written(self, steps: Steps) -> set[int]:
        """The columns that some action or initial function writes."""
        found: set[int] = set()
        for action in (*steps.initial, *(c for _, c in steps.actions)):
            found |= self.written(action.effect)
        return found


def _check_unique(system: System) -> None:
    for mark, kind, items in (
        ("action", surface.Action, [*system.actions, *system.initial]),
        ("invariant", surface.Property, system.properties),
        ("on_the_way", surface.Property, system.on_the_way),
        ("witness", surface.Witness, system.witnesses),
    ):
        for item in items:
            if not isinstance(item, kind):
                raise LanguageError(
                    f"system {system.name}: {getattr(item, '__name__', item)} is not marked; "
                    f"write '@{mark}' above it",
                    system.site,
                )
    for where, given, way in (
        ("on_the_way", system.properties, False),
        ("properties", system.on_the_way, True),
    ):
        for judged in given:
            if (judged.over == "way") is not way:
                raise LanguageError(
                    f"system {system.name}: {judged} stands in the wrong list; write {where}=[{judged.name}]",
                    system.site,
                )
    for what, names in (
        ("actions", [a.name for a in [*system.actions, *system.initial]]),
        ("properties", [p.name for p in [*system.properties, *system.on_the_way]]),
        ("witnesses", [w.name for w in system.witnesses]),
    ):
        twice = [n for n in names if names.count(n) > 1]
        if twice:
            raise LanguageError(
                f"system {system.name} has two {what} named '{twice[0]}'; rename one", system.site
            )


def returning_into(block: Block, verdict: Local) -> Block:
    """A block with early returns as one whose result is in a local."""
    result: list[Statement] = []
    for i, statement in enumerate(block):
        match statement:
            case Return():
                return (*result, Assign(verdict, cast(Expr, statement.value)))
            case If():
                rest = block[i + 1 :]
                then = returning_into((*statement.then, *(() if ends(statement.then) else rest)), verdict)
                otherwise = returning_into(
                    (*statement.otherwise, *(() if ends(statement.otherwise) else rest)), verdict
                )
                return (*result, If(statement.condition, then, otherwise))
            case For() if any(isinstance(s, Return) for s in statements_of(statement.body)):
                raise LanguageError(
                    "a property returns from inside a loop; write any(…), all(…) or a helper function"
                )
            case _:
                result.append(statement)
    return tuple(result)


def ends(block: Block) -> bool:
    """Whether a block always returns."""
    return any(
        isinstance(s, Return) or (isinstance(s, If) and ends(s.then) and ends(s.otherwise)) for s in block
    )


def digest(content: Any) -> str:
    """A hash of compiled content that does not depend on where its source lies."""
    parts: list[bytes] = []
    names_of: dict[type, tuple[bytes, tuple[str, ...]]] = {}  # of dataclasses

    def feed(item: Any) -> None:
        kind = type(item)
        if kind in names_of:
            name, attributes = names_of[kind]
            parts.append(name)
            for attribute in attributes:
                feed(getattr(item, attribute))
        elif isinstance(item, tuple):
            parts.append(b"(")
            for x in item:
                feed(x)
            parts.append(b")")
        elif kind is int or kind is str:
            parts.append(repr(item).encode() + b";")
        elif isinstance(item, Site):
            parts.append(item.text.encode())
        elif is_dataclass(item) and not isinstance(item, type):
            names_of[kind] = kind.__name__.encode(), tuple(f.name for f in fields(item))
            feed(item)
        elif isinstance(item, type):
            names = [m.name for m in cast(Any, item)] if hasattr(item, "__members__") else []
            parts.append(f"{item.__name__}{names}".encode())
        else:
            parts.append(repr(item).encode() + b";")

    feed(content)
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]
