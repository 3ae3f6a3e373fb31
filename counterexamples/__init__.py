"""The trace: format, explanation, explorer, tests, replay."""
