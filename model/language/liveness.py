"""Compile progress properties and fairness to the IR."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from slotproof.model.language import fairness, surface
from slotproof.model.language.errors import LanguageError, Site
from slotproof.model.language.ir import Action, Conjunct, Const, Expr, FairSets, Local, Progress
from slotproof.model.language.operands import FALSE, TRUE, comparison, conjunction
from slotproof.model.language.source import Source
from slotproof.model.language.statements import Statements

if TYPE_CHECKING:
    from slotproof.model.language.compile import Compiler


def progress_of(compiler: Compiler, declared: surface.Property) -> Progress:
    """A progress property in the IR."""
    text = compiler.text(declared.function)
    names = compiler.parameter_names(text)
    if not names:
        raise LanguageError(
            f"{text.name}: a property needs the state as a parameter; write 'def {text.name}(s: …) -> bool'",
            text.site(text.tree),
        )
    body, parameters = _body(compiler, text, names)
    if text.hints().get("return") is not bool:
        raise LanguageError(f"{text.name} is true or false; write '-> bool'", text.site(text.tree))
    call = _leads_to(text)
    setup, _ = body.block(text.body[:-1])
    premise, goal = (Conjunct(body.condition(part), text.site(part)) for part in call.args)
    return Progress(declared.name, tuple(parameters), tuple(setup), premise, goal)


def _body(compiler: Compiler, text: Source, names: Sequence[str]) -> tuple[Statements, list[Local]]:
    """A body that reads the state, its first parameter, and the further ones; and these."""
    body = Statements(compiler, text, None)
    body.writable = False
    body.names = compiler.roots(text, names[:1], ["state"])
    parameters = compiler.ranged(text, names[1:])
    for local in parameters:
        body.fresh(local.name)
        low = local.type.low
        body.names[local.name] = Const(local.type, low) if local.type.size == 1 else local
    return body, parameters


def _leads_to(text: Source) -> ast.Call:
    """The call with which a progress property ends; no other line returns."""
    last = text.body[-1] if text.body else None
    returns = [n for s in text.body for n in ast.walk(s) if isinstance(n, ast.Return)]
    call = last.value if isinstance(last, ast.Return) else None
    if not (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and text.lookup(call.func.id) is fairness.leads_to
        and returns == [last]
    ):
        wrong = next((r for r in returns if r is not last), last or text.tree)
        raise LanguageError(
            f"{text.name} is marked '@eventually'; its one 'return' is leads_to(premise, goal)",
            text.site(wrong),
        )
    if len(call.args) != 2 or call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        raise LanguageError("leads_to() takes a premise and a goal: leads_to(premise, goal)", text.site(call))
    return call


def fair_sets(
    compiler: Compiler, declared: fairness.Fairness, compiled: dict[str, Action]
) -> FairSets | None:
    """Fair sets in the IR; ``None`` if none of their steps is possible at this scope.

    ``compiled`` are the actions of the program by name, those that can happen, in order.
    """
    system = compiler.system
    for action in declared.actions:
        if action not in system.actions:
            raise LanguageError(
                f"{declared}: system {system.name} has no {action}; add it to actions=[…], or leave it out",
                declared.site,
            )
    own = [(a, _parameters(compiler, a)) for a in declared.actions]
    numbers = {name: number for number, name in enumerate(compiled)}
    actions = tuple(numbers[a.name] for a in declared.actions if a.name in numbers)
    instances: list[Local] = []
    conditions: list[Expr] = []
    for name in declared.each:
        local = _common(declared, own, name, f"each: no parameter '{name}' in", declared.site)
        instance = Local(local.type, f"each {name}")
        instances.append(instance)
        conditions.append(comparison("==", local, instance))
    setup: tuple[Any, ...] = ()
    if declared.where is not None:
        text = compiler.text(declared.where)
        names = compiler.parameter_names(text)
        if not names:
            raise LanguageError(
                f"{text.name}: where= needs the state as a parameter; write 'def {text.name}(s: …) -> bool'",
                text.site(text.tree),
            )
        body, parameters = _body(compiler, text, names)
        for local in parameters:
            if any(local.name in {p.name for p in of} for _, of in own):
                known = _common(
                    declared, own, local.name, f"'{local.name}' is no argument of", text.site(text.tree)
                )
                if known.type != local.type:
                    raise LanguageError(
                        f"{text.name}: '{local.name}' is {known.type} in the actions; write that type here",
                        text.site(text.tree),
                    )
            else:
                instances.append(local)
        setup, conjuncts = compiler.judgement(body, text)
        conditions += [c.condition for c in conjuncts]
    condition = conjunction(conditions) if conditions else TRUE
    if not actions or condition == FALSE:
        return None
    return FairSets(
        declared=system.fairness.index(declared),
        strength=declared.strength,
        steps=declared.steps,
        actions=actions,
        each=declared.each,
        instances=tuple(instances),
        setup=setup,
        condition=condition,
    )


def _parameters(compiler: Compiler, action: surface.Action[Any]) -> list[Local]:
    text = compiler.text(action.function)
    return compiler.ranged(text, compiler.parameter_names(text)[1:])


def _common(
    declared: fairness.Fairness,
    own: Sequence[tuple[surface.Action[Any], Sequence[Local]]],
    name: str,
    otherwise: str,
    site: Site,
) -> Local:
    """The parameter of that name, which all actions of fair sets have to have, of one type."""
    found: list[Local] = []
    for action, parameters in own:
        local = next((p for p in parameters if p.name == name), None)
        if local is None:
            has = ", ".join(p.name for p in parameters) or "none"
            raise LanguageError(f"{declared}: {otherwise} {action}; it has: {has}", site)
        found.append(local)
    if any(local.type != found[0].type for local in found):
        raise LanguageError(
            f"{declared}: parameter '{name}' has several types in these actions; declare them apart",
            site,
        )
    return found[0]


def check_assumptions(system_name: str, progress: Sequence[tuple[str, Site]], fair: bool) -> None:
    """``LanguageError`` for a progress property of a system in which any run may stop at any time."""
    if progress and not fair:
        name, site = progress[0]
        raise LanguageError(
            f"{name} is a progress property, and system {system_name} assumes no fairness, so that any run"
            " may stop at any time; write System(…, fairness=[weak(action), …])",
            site,
        )
