"""A builder of one LLVM function as text.

Text, and not llvmlite's own builder: that one takes several times as long, and compile time is part
of the time of a check. Numbers are ``i64``, truth values ``i1``; operands are their printed names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Assembly:
    """Instructions of a function in the making; blocks follow each other as they are placed."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._entry: list[str] = []
        self._count = 0
        self._open = True

    def name(self, hint: str = "v") -> str:
        """A fresh name."""
        self._count += 1
        return f"%{hint}{self._count}"

    def get(self, instruction: str) -> str:
        """Append an instruction that has a result; its name."""
        result = self.name()
        self.do(f"{result} = {instruction}")
        return result

    def do(self, instruction: str) -> None:
        """Append an instruction without a result."""
        if not self._open:  # after a return or jump: LLVM wants a block, and drops it
            self.place(self.label("dead"))
        self._lines.append(f"  {instruction}")

    def variable(self, kind: str = "i64") -> str:
        """A stack slot that lives as long as the call; LLVM turns it into a register."""
        result = self.name("p")
        self._entry.append(f"  {result} = alloca {kind}, align 8")
        return result

    def label(self, hint: str) -> str:
        """A fresh label."""
        self._count += 1
        return f"{hint}{self._count}"

    def place(self, label: str) -> None:
        """Begin a block; the one before falls through into it."""
        if self._open:
            self._lines.append(f"  br label %{label}")
        self._lines.append(f"{label}:")
        self._open = True

    def jump(self, label: str) -> None:
        """End the block with a jump."""
        self.do(f"br label %{label}")
        self._open = False

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        """End the block with a conditional jump."""
        self.do(f"br i1 {condition}, label %{then}, label %{otherwise}")
        self._open = False

    def switch(self, value: str, labels: list[str]) -> None:
        """End the block with a jump to the label of number ``value``, the last one for anything else."""
        cases = " ".join(f"i64 {i}, label %{label}" for i, label in enumerate(labels[:-1]))
        self.do(f"switch i64 {value}, label %{labels[-1]} [ {cases} ]")
        self._open = False

    def ret(self, value: str) -> None:
        """End the block with a return."""
        self.do(f"ret {value}")
        self._open = False

    def load(self, pointer: str, kind: str = "i64", *, constant: bool = False) -> str:
        """Read memory; ``constant`` promises that nothing writes there while generated code runs."""
        return self.get(f"load {kind}, ptr {pointer}, align 8" + (", !invariant.load !0" if constant else ""))

    def store(self, value: str, pointer: str, kind: str = "i64") -> None:
        """Write memory."""
        self.do(f"store {kind} {value}, ptr {pointer}, align 8")

    def at(self, pointer: str, word: str | int) -> str:
        """The address of a 64-bit word."""
        return (
            pointer
            if str(word) == "0"
            else self.get(f"getelementptr inbounds i64, ptr {pointer}, i64 {word}")
        )

    def wide(self, truth: str) -> str:
        """A truth value as a number."""
        if truth in ("true", "false"):
            return "1" if truth == "true" else "0"
        return self.get(f"zext i1 {truth} to i64")

    def narrow(self, number: str) -> str:
        """A number 0 or 1 as a truth value."""
        return self.get(f"icmp ne i64 {number}, 0")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Emit a block that runs if the condition holds."""
        then, after = self.label("then"), self.label("after")
        self.branch(condition, then, after)
        self.place(then)
        yield
        self.place(after)

    @contextmanager
    def loop(self, count: int, variable: str) -> Iterator[str]:
        """Emit a loop over 0 .. count-1 in ``variable``; gives the label of the next round."""
        head, body, following, after = (self.label(h) for h in ("loop", "body", "next", "end"))
        self.store("0", variable)
        self.place(head)
        more = self.get(f"icmp ult i64 {self.load(variable)}, {count}")
        self.branch(more, body, after)
        self.place(body)
        yield following
        self.place(following)
        self.store(self.get(f"add i64 {self.load(variable)}, 1"), variable)
        self.jump(head)
        self.place(after)

    def function(self, header: str) -> str:
        """The text of the whole function."""
        if self._open:
            self._lines.append("  unreachable")
        return "\n".join([f"define {header} {{", "entry:", *self._entry, *self._lines, "}"])
