"""What stands in for packages that a release imports and that are not installed here.

A release is imported as it is, on a machine without its GPU kernels and without its web server. ``PACKAGES``
is the whole list: a finder placed *last* on ``sys.meta_path`` makes an empty module for each of these names,
so that an installed package always wins. The list is explicit, because a finder that stood in for every
missing module would flip the branches that ask whether an optional package is there. ``UNREAD`` names single
modules that are never imported, installed or not: their finder comes first.

Nothing in here decides anything that a trace is about: these modules hold kernels, pictures, web servers and
grammars, and the functions that are driven reach none of them. The only functions that compute are those of
``_COMPUTES``: two size tensors, and two say that nothing is compiled.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Collection, Mapping, Sequence
from types import ModuleType
from typing import Any

PACKAGES: Mapping[str, str] = {
    "triton": "GPU kernels; the driven LoRA backend computes with torch",
    "sgl_kernel": "GPU kernels",
    "torchvision": "picture inputs",
    "pybase64": "picture and tensor inputs",
    "PIL": "picture inputs",
    "starlette": "web server",
    "fastapi": "web server",
    "uvicorn": "web server",
    "aiohttp": "web client",
    "openai": "web server's data types",
    "partial_json_parser": "tool calls in answers",
    "xgrammar": "grammars",
    "sentencepiece": "tokenizer models",
    "einops": "model code",
    "compressed_tensors": "quantization",
    "gguf": "quantization",
    "tvm_ffi": "GPU kernels",
    "setproctitle": "the process's name",
    "IPython": "notebooks",
}

UNREAD: Mapping[str, str] = {
    "torch._dynamo": "torch's compiler; nothing is compiled (``neutral.py``)",
    "transformers.generation.utils": "text generation by transformers' own models",
    "transformers.masking_utils": "attention masks of transformers' own models",
    "transformers.modeling_utils": "transformers' own models; brings SciPy along",
    "transformers.models.llama.modeling_llama": "a model; a release patches old names into it",
}
"""Modules that are installed and yet stood in for, because to import them takes as long as the rest of a
replay. A release imports them for models that it has no code of its own for; the tiny model is none."""


class _Anything(type):
    """Makes attribute access on a stand-in class give another one: ``triton.language.constexpr``."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any) -> Any:
        return super().__new__(mcs, name, bases, body)

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, body)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _class(name)

    def __instancecheck__(cls, instance: object) -> bool:
        return False

    def __or__(cls, other: Any) -> Any:
        return Any

    def __ror__(cls, other: Any) -> Any:
        return Any


def _schema(cls: type, source: Any, handler: Any) -> Any:
    return importlib.import_module("pydantic_core").core_schema.any_schema()


def _passes(cls: type, *args: Any, **options: Any) -> Any:
    """A call decorates nothing: ``@triton.jit`` and ``@triton.jit(…)`` both keep the function."""
    if len(args) == 1 and not options and callable(args[0]):
        return args[0]
    if cls.__name__[:1].isupper():
        return object.__new__(cls)
    return lambda function, *rest, **more: function


def _class(name: str) -> Any:
    return _Anything(
        name,
        (),
        {
            "__new__": _passes,
            "__init__": lambda self, *args, **options: None,
            "__class_getitem__": classmethod(lambda cls, item: cls),
            "__get_pydantic_core_schema__": classmethod(_schema),
            "__getattr__": lambda self, attribute: _attribute(attribute),
            "__call__": lambda self, *args, **options: args[0] if len(args) == 1 else None,
        },
    )


def _attribute(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _class(name)


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


def _next_power_of_2(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


def not_compiled(function: Any = None, *positional: Any, **options: Any) -> Any:
    """A decorator, with its options or without, that leaves a function as it is."""
    return function if function is not None else (lambda decorated: decorated)


_COMPUTES: Mapping[str, Any] = {
    "triton.cdiv": _cdiv,
    "triton.next_power_of_2": _next_power_of_2,
    "torch._dynamo.disable": not_compiled,
    "torch._dynamo.is_compiling": lambda: False,
}


class StandIn(ModuleType):
    """A module whose every attribute is there."""

    __version__ = "9.9.9"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _COMPUTES.get(f"{self.__name__}.{name}") or _class(name)
        setattr(self, name, value)
        return value


class Finder:
    """Finds modules of a list, and what is inside of them."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for a stand-in, or nothing."""
        if not any(name == known or name.startswith(f"{known}.") for known in self.names):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """An empty module in which everything is found."""
        module = StandIn(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run."""


def install() -> None:
    """Put the finder of missing packages behind all others, and that of unread modules before them."""
    if not any(isinstance(f, Finder) for f in sys.meta_path):
        sys.meta_path.append(Finder(PACKAGES))
        sys.meta_path.insert(0, Finder(UNREAD))


def stood_in() -> tuple[str, ...]:
    """The packages and modules that are stand-ins in this process, for the report of a run."""
    found = {n for n, m in sys.modules.items() if isinstance(m, StandIn)}
    return tuple(sorted({n if n in UNREAD else n.partition(".")[0] for n in found}))
