"""Replay on real SGLang code: a release's own classes, driven on a CPU in a process of their own."""
