"""Reservations on the decode role in the order of the queue, so that nobody starves behind a busy adapter.

0.5.20 skips a candidate that the gate refuses and goes on behind it (#39332). While requests for an adapter
that is in use keep coming, its slot never gets free, and a request for another adapter waits for good; there
is neither a timeout nor a drainer on this role. Here nobody passes a candidate that the gate refuses, whether
its handshake is done or not: the rows before it drain, its adapter gets the slot, and the queue goes on. That
is the least that the drainer of the other roles does (``LoRADrainer``), with a threshold of zero.

In the server it is a ``break`` for a ``continue`` in ``DecodePreallocQueue.pop_preallocated``, and the gate's
question before the one about the handshake.
"""

from slotproof.model.releases import release

candidate = release("0.5.23").replace(refusal_ends_reservation="stops_at_the_refused_candidate")
