"""What ``slotproof`` and ``python -m slotproof.checker`` start."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 3
"""That of ``cli.py``, which takes a while to import."""


def run() -> None:
    """Run the command line. Ctrl-C while it is still being imported ends it as it does later on."""
    listening = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listening:
        signal.signal(signal.SIGINT, _leave)
    from slotproof.checker.cli import main

    if listening:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main(prog_name="slotproof")


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"slotproof: interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    run()
