"""What the model calls a failure of which function.

``CAUSES`` says, for each crash of the model that real code can show, the function of the release that
raises and the exception. A crash of another function, or another exception, has no name and is told as it is.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

from slotproof.counterexamples.replay.driver import Died


@dataclass(frozen=True)
class Cause:
    """A crash of the model: the functions that raise it, and the exception's type and words."""

    name: str
    functions: tuple[str, ...]
    error: str
    words: str = ""


CAUSES: tuple[Cause, ...] = (
    Cause("fit-test-unknown-adapter", ("validate_lora_batch",), "AssertionError", "not found in lora_refs"),
    Cause("fit-test-pinned-count", ("validate_lora_batch",), "AssertionError", "exceeds the total number"),
    Cause("make-resident-too-many", ("fetch_new_loras",), "AssertionError"),
    Cause(
        "make-resident-no-victim",
        ("get_available_buffer_slot", "prepare_lora_batch"),
        "ValueError",
        "No available buffer slots",
    ),
    Cause("make-resident-unknown-adapter", ("load_lora_weight_to_buffer",), "AssertionError"),
    Cause("metadata-unknown-adapter", ("prepare_lora_batch", "get_buffer_id"), "KeyError"),
    Cause("global-batch-too-many", ("prepare_lora_batch",), "ValueError", "exceed"),
    Cause("sgemm-info-missing", ("_sgemm_info",), "AssertionError"),
    Cause("sgemm-info-missing", ("_sgemm_info",), "AttributeError", "batch_info"),
    Cause("lm-head-row-count", ("_get_lm_head_batch_info",), "RuntimeError"),
)


def died(error: BaseException, folder: Path) -> Died | None:
    """The failure of a function of the release; ``None`` if the harness is at fault.

    A field that an object of the harness lacks raises inside the release, too: an error about attributes or
    types is the release's own only where the table knows it.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not Path(frames[-1].filename).is_relative_to(folder):
        return None
    inner = frames[-1].name
    kind = type(error).__name__
    found = next(
        (c.name for c in CAUSES if inner in c.functions and kind == c.error and c.words in str(error)), None
    )
    if found is None and isinstance(error, AttributeError | TypeError | NameError | ImportError):
        return None
    text = " ".join(str(error).split()) or (frames[-1].line or "")
    return Died(found, inner, f"{kind}: {text}")
