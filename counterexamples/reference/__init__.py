"""A small multi-LoRA server that really computes, in PyTorch: what a trace is replayed on.

It is a server of its own. It knows nothing of the model: which way it goes at a scheduling decision it is
told by name (``rules.py``), and what its state means in the model's words is written down outside of it, in
``slotproof.counterexamples.replay``. A decoder of random weights answers greedily (``network.py``), so that
a wrong slot, stale batch metadata or weights read too early give a wrong token.
"""
