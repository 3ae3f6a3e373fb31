"""Shared by all tests."""

import os

from hypothesis import settings

# The same examples on every run of CI; fresh ones on a person's machine.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")
