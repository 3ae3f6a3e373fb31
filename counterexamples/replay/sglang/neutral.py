"""What of torch is made neutral on a machine without a GPU, before a release is imported.

``FUNCTIONS`` is the whole table. None of them decides anything that a trace is about: a compiled function
computes what the function computes, and pinned memory differs from other memory in speed alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from slotproof.counterexamples.replay.sglang.standins import not_compiled

FUNCTIONS: Mapping[str, str] = {
    "torch.compile": "compiles nothing: the compiler looks for triton, and finds the stand-in",
    "torch.compiler.disable": "marks nothing for the compiler, and does not import it",
    "torch.Tensor.pin_memory": "gives the tensor itself: pinned memory is refused without a GPU",
    "torch.empty, torch.zeros, torch.ones, torch.tensor, torch.full, torch.arange, torch.randn": (
        "leave pin_memory=True out"
    ),
}
_FACTORIES = ("empty", "zeros", "ones", "tensor", "full", "arange", "randn", "empty_like", "zeros_like")


def torch() -> Any:
    """The module, imported when it is needed: the command line answers without it."""
    return importlib.import_module("torch")


def _unpinned(factory: Callable[..., Any]) -> Callable[..., Any]:
    def make(*args: Any, **options: Any) -> Any:
        options.pop("pin_memory", None)
        return factory(*args, **options)

    return make


def install() -> None:
    """Make the table's functions neutral in this process."""
    module = torch()
    module.compile = module.compiler.disable = not_compiled
    module.Tensor.pin_memory = lambda self, device=None: self
    for name in _FACTORIES:
        setattr(module, name, _unpinned(getattr(module, name)))
