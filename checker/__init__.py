"""Engines over any system, and the command line."""
