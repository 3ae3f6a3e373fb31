"""A function's source as a syntax tree with the lines of its file, and the meaning of its names."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import io
import linecache
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, get_type_hints

from slotproof.model.language.errors import FileChanged, LanguageError, Site

MISSING = object()

_read: dict[str, tuple[int, int]] = {}
"""When each file that was read was written last (nanoseconds), and its size."""


def remember_text(file: str, text: str) -> None:
    """Take the source of the functions of a file from this text, whatever is in the file later."""
    linecache.cache[file] = (len(text), None, io.StringIO(text).readlines(), file)


def _has_changed(file: str) -> bool:
    """Whether a file is another one than when it was read first. A remembered text does not change."""
    kept = linecache.cache.get(file)
    if kept is not None and (len(kept) == 1 or kept[1] is None):
        return False
    try:
        stat = os.stat(file)
    except OSError:
        return file in _read
    return _read.setdefault(file, (stat.st_mtime_ns, stat.st_size)) != (stat.st_mtime_ns, stat.st_size)


def parts_of(condition: ast.expr) -> Iterator[ast.expr]:
    """The parts of a condition that are reported by themselves: those of a top-level ``and``."""
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
        for value in condition.values:
            yield from parts_of(value)
    else:
        yield condition


def no_type(error: Exception) -> str:
    """What to say of an annotation that fails."""
    said = " ".join(str(error).split())
    return f"an annotation is no type ({type(error).__name__}: {said}); write a type of the language"


@lru_cache(maxsize=256)
def definitions(text: str) -> Mapping[int, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a file by their first lines, decorators among them; none if it is no Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    return {
        min([node.lineno, *(d.lineno for d in node.decorator_list)]): node
        for node in _statements(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements in a tree, and not their expressions, which are most of it."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(tree, name, ()):
            if isinstance(node, ast.stmt):
                yield node
            yield from _statements(node)


@cache
def _real_path(file: str) -> str:
    return os.path.realpath(file)


class Source:
    """The text of one function of the language; ``FileChanged`` if its file has changed meanwhile."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = function.__name__
        self._hints: dict[str, Any] | None = None
        self.file = _real_path(function.__code__.co_filename)
        if _has_changed(self.file):
            raise FileChanged(
                "the file has changed since this run read it; run the command again",
                Site(self.file, function.__code__.co_firstlineno),
            )
        code = inspect.unwrap(function).__code__
        linecache.checkcache(code.co_filename)
        self._lines = linecache.getlines(code.co_filename, function.__globals__)
        trees = definitions("".join(self._lines))
        if not self._lines:
            raise LanguageError(
                f"{self.name}: its source cannot be read; write it in a file",
                Site(self.file, function.__code__.co_firstlineno),
            )
        tree = trees.get(code.co_firstlineno)
        if not isinstance(tree, ast.FunctionDef) or tree.name != code.co_name:
            line = code.co_firstlineno if tree is None else tree.lineno
            raise LanguageError(
                f"{self.name} is no plain function; write 'def {self.name}(…):'", Site(self.file, line)
            )
        self.tree = tree

    def site(self, node: ast.AST) -> Site:
        """Where a node stands, with the source of the node itself."""
        line: int = getattr(node, "lineno", 1)
        if not isinstance(node, ast.expr):
            return Site(self.file, line, linecache.getline(self.file, line).strip())
        before = self._lines[line - 1].encode()[: node.col_offset].decode(errors="replace")
        return Site(self.file, line, ast.unparse(node), len(before) + 1)

    @property
    def body(self) -> list[ast.stmt]:
        """The statements without the docstring."""
        first = self.tree.body[0]
        documented = (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        )
        return self.tree.body[1:] if documented else self.tree.body

    def numbered(self) -> ast.FunctionDef:
        """A copy of the tree, to be changed."""
        return copy.deepcopy(self.tree)

    def hints(self) -> dict[str, Any]:
        """The annotations of parameters and result, evaluated once."""
        if self._hints is None:
            self._hints = self._evaluated()
        return self._hints

    def _evaluated(self) -> dict[str, Any]:
        closure = inspect.getclosurevars(self.function).nonlocals
        try:
            return get_type_hints(self.function, localns=closure, include_extras=True)
        except NameError as e:
            raise LanguageError(
                f"{self.name}: annotation names {e.name!r}, which is not defined; import or define it",
                self.site(self.tree),
            ) from None
        except Exception as e:  # the user's own annotations, which Python may be told not to evaluate
            raise LanguageError(f"{self.name}: {no_type(e)}", self.site(self.tree)) from None

    def annotation(self, node: ast.expr) -> Any:
        """The type that an annotation of a local variable names."""
        scope = {
            **vars(builtins),
            **self.function.__globals__,
            **inspect.getclosurevars(self.function).nonlocals,
        }
        try:
            return eval(compile(ast.Expression(node), self.file, "eval"), scope)  # the user's own annotation
        except NameError as e:
            raise LanguageError(
                f"annotation names {e.name!r}, which is not defined; import or define it", self.site(node)
            ) from None
        except Exception as e:
            raise LanguageError(no_type(e), self.site(node)) from None

    def lookup(self, name: str) -> Any:
        """What a name that is no local means: a closure's, a global's or a builtin's; else ``MISSING``."""
        code = self.function.__code__
        if name in code.co_freevars and self.function.__closure__:
            return self.function.__closure__[code.co_freevars.index(name)].cell_contents
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return getattr(builtins, name, MISSING)
