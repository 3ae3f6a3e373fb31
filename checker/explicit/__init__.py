"""Exhaustive breadth-first search in native code."""
