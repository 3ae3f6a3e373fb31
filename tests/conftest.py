"""Shared by all tests."""

import os
import signal

from hypothesis import settings

# A test of an engine runs the engine; the tests of the cache of verdicts turn it on for themselves.
os.environ["SLOTPROOF_NO_CACHE"] = "1"

# A shell without job control ignores interrupts for what it starts in the background, and for all that this
# starts; the tests send them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every run of CI; fresh ones on a person's machine.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")
