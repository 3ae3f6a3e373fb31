"""Data-parallel ranks: they go through their loops together and share each forward."""

from __future__ import annotations

from collections.abc import Sequence

from slotproof.counterexamples.reference.forward import Forwards
from slotproof.counterexamples.reference.scheduler import Batch, Scheduler


def step_together(forwards: Forwards, schedulers: Sequence[Scheduler]) -> None:
    """One iteration of all ranks. If one has a batch all run a forward, those without rows an idle one."""
    batches: list[Batch | None] = [next_batch(scheduler) for scheduler in schedulers]
    if any(batch is not None for batch in batches):
        result = forwards.run(
            [scheduler.part for scheduler in schedulers],
            [batch.pieces if batch is not None else [] for batch in batches],
            [batch is not None and batch.prefill for batch in batches],
        )
        for batch in batches:
            if batch is not None:
                batch.result = result
    for scheduler, batch in zip(schedulers, batches, strict=True):
        scheduler.end(batch)


def next_batch(scheduler: Scheduler) -> Batch | None:
    """A rank's batch; nothing that happens on the device is waited for on the way."""
    choosing = scheduler.get_next_batch_to_run()
    while True:
        try:
            next(choosing)
        except StopIteration as end:
            batch: Batch | None = end.value
            return batch
