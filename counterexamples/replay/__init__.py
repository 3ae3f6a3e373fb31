"""Drive a trace on the reference and on a release's real server code."""
