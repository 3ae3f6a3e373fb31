"""The alternating bit protocol: values over a line that loses messages and acknowledgements.

After Leslie Lamport's module `specifications/SpecifyingSystems/TLC/AlternatingBit.tla` of
https://github.com/tlaplus/Examples, whose manifest gives 240 distinct states, 1,392 generated and depth
10; these are two values and at most two messages in each direction. The generated states count the
steps that overfill a line, too, which are none here.

Lamport, "Specifying Systems" (2002), chapter 14: with strong fairness of receiving and hearing, and weak
fairness of sending and acknowledging again, what is sent is received. A line that is weakly fair may lose
everything.
"""

import enum

from slotproof.model.language import (
    Annotated,
    Capacity,
    Domain,
    Range,
    Record,
    Seq,
    State,
    System,
    action,
    eventually,
    field,
    initial,
    invariant,
    leads_to,
    require,
    strong,
    weak,
)


class Value(Domain, size=2, names="v{n}"):
    """What is sent."""


class Bit(enum.Enum):
    """The mark of a message; it alternates."""

    ZERO = 0
    ONE = 1


class Message(Record):
    """A value on its way."""

    bit: Bit = field(Bit.ZERO, "tells a new message from a repeated one")
    value: Value = field(Value(0), "what is sent")


class Line(State):
    """Sender, receiver and the two directions of the line."""

    messages: Annotated[Seq[Message], Capacity(2)] = field((), "on their way to the receiver")
    acknowledgements: Annotated[Seq[Bit], Capacity(2)] = field((), "on their way to the sender")
    sender_bit: Bit = field(Bit.ZERO, "the mark of the value being sent")
    acknowledged: Bit = field(Bit.ZERO, "the mark acknowledged last")
    receiver_bit: Bit = field(Bit.ZERO, "the mark received last")
    sent: Value = field(Value(0), "the value being sent")
    received: Value = field(Value(0), "the value received last")


@initial
def start(s: Line, bit: Bit, sent: Value, received: Value) -> None:
    """Sender and receiver agree on a bit; all else may be."""
    s.sender_bit = bit
    s.acknowledged = bit
    s.receiver_bit = bit
    s.sent = sent
    s.received = received


def flipped(b: Bit) -> Bit:
    """The other bit."""
    return Bit.ONE if b == Bit.ZERO else Bit.ZERO


@action
def send(s: Line, v: Value) -> None:
    """The sender sends {v}, as the last value was acknowledged."""
    require(s.acknowledged == s.sender_bit)
    require(len(s.messages) < 2)
    s.sent = v
    s.sender_bit = flipped(s.sender_bit)
    s.messages.append(Message(bit=s.sender_bit, value=v))


@action
def send_again(s: Line) -> None:
    """The sender repeats the value that is not acknowledged."""
    require(s.acknowledged != s.sender_bit)
    require(len(s.messages) < 2)
    s.messages.append(Message(bit=s.sender_bit, value=s.sent))


@action
def receive(s: Line) -> None:
    """The receiver gets a message."""
    require(len(s.messages) > 0)
    s.receiver_bit = s.messages[0].bit
    s.received = s.messages[0].value
    s.messages.pop(0)


@action
def acknowledge(s: Line) -> None:
    """The receiver sends the bit received last."""
    require(len(s.acknowledgements) < 2)
    s.acknowledgements.append(s.receiver_bit)


@action
def hear(s: Line) -> None:
    """The sender gets an acknowledgement."""
    require(len(s.acknowledgements) > 0)
    s.acknowledged = s.acknowledgements.pop(0)


@action
def lose_message(s: Line, position: Annotated[int, Range(0, 1)]) -> None:
    """A message is lost."""
    require(position < len(s.messages))
    s.messages.pop(position)


@action
def lose_acknowledgement(s: Line, position: Annotated[int, Range(0, 1)]) -> None:
    """An acknowledgement is lost."""
    require(position < len(s.acknowledgements))
    s.acknowledgements.pop(position)


@invariant
def receiver_has_what_it_marks(s: Line) -> bool:
    """While a value awaits its acknowledgement, who has its bit has the value."""
    return s.acknowledged == s.sender_bit or s.receiver_bit != s.sender_bit or s.received == s.sent


@eventually
def sent_leads_to_received(s: Line, v: Value) -> bool:
    """A value that is sent and not acknowledged is received."""
    return leads_to(s.sent == v and s.sender_bit != s.acknowledged, s.received == v)


@eventually
def acknowledged_in_the_end(s: Line) -> bool:
    """The sender hears that its value was received."""
    return leads_to(s.sender_bit != s.acknowledged, s.sender_bit == s.acknowledged)


alternating_bit = System(
    "alternating-bit",
    Line,
    actions=[send, send_again, receive, acknowledge, hear, lose_message, lose_acknowledgement],
    initial=[start],
    properties=[receiver_has_what_it_marks],
)
fair_line = System(
    "fair-line",
    Line,
    actions=[send, send_again, receive, acknowledge, hear, lose_message, lose_acknowledgement],
    initial=[start],
    properties=[sent_leads_to_received, acknowledged_in_the_end],
    fairness=[weak(send_again), weak(acknowledge), strong(receive), strong(hear)],
)
unfair_line = System(
    "unfair-line",
    Line,
    actions=[send, send_again, receive, acknowledge, hear, lose_message, lose_acknowledgement],
    initial=[start],
    properties=[sent_leads_to_received, acknowledged_in_the_end],
    fairness=[weak(send_again), weak(acknowledge), weak(receive), weak(hear)],
)
