"""Streams on a CPU: work runs in the order in which gates are opened, and events tell where a stream is."""

from slotproof.counterexamples.reference.device import CpuDevice


def test_work_behind_a_gate_runs_when_it_is_opened() -> None:
    """Two gates of one stream open in their order."""
    stream = CpuDevice().stream("load")
    done: list[str] = []
    for name in ("a", "b"):
        stream.gate(name)
        stream.launch(lambda name=name: done.append(name))  # type: ignore[misc]
    assert (done, stream.closed()) == ([], ("a", "b"))
    stream.release()
    assert (done, stream.closed()) == (["a"], ("b",))
    stream.release()
    assert (done, stream.closed()) == (["a", "b"], ())


def test_whoever_waits_opens_the_gates_in_front() -> None:
    """An event tells whether the stream got there; synchronising gets it there."""
    stream = CpuDevice().stream("forward")
    done: list[str] = []
    stream.gate(1)
    stream.launch(lambda: done.append("first"))
    event = stream.record()
    stream.gate(2)
    stream.launch(lambda: done.append("second"))
    assert not event.query()
    event.synchronize()
    assert event.query()
    assert (done, stream.closed()) == (["first"], (2,))


def test_a_stream_waits_for_an_event_of_another() -> None:
    """The zeroing of a slot waits for the forward in flight; a third stream does not."""
    device = CpuDevice()
    forward, schedule, load = device.stream("forward"), device.stream("schedule"), device.stream("load")
    done: list[str] = []
    forward.gate(1)
    forward.launch(lambda: done.append("forward"))
    schedule.wait(forward.record())
    schedule.launch(lambda: done.append("zero"))
    load.launch(lambda: done.append("copy"))
    assert done == ["copy"]
    schedule.record().synchronize()
    assert done == ["copy", "forward", "zero"]
