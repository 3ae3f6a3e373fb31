"""Statements that are not in the language, and names without a value."""

from tests.model.language.misuses.misuse import Misuse, in_effect

MISUSES = [
    in_effect("while", "while s.number < 3:  # <-\n    s.number += 1", "while loop", "write 'for x in'"),
    in_effect("try", "try:  # <-\n    s.flag = True\nfinally:\n    pass", "try", "with 'if'"),
    in_effect("with", "with open('x'):  # <-\n    s.flag = True", "with", "write the statements"),
    in_effect("global", "global total  # <-\ntotal = 1", "global", "field of the state"),
    Misuse(
        "nonlocal",
        """
        def make():
            total = 0
            @action
            def step(s: S) -> None:
                nonlocal total  # <-
                total = 1
            return step

        step = make()
        """,
        ("nonlocal", "field of the state"),
    ),
    in_effect("del", "del s.owner  # <-", "del", "assign None"),
    in_effect("assert", "assert s.flag  # <-", "assert", "crash("),
    in_effect("raise", "raise ValueError()  # <-", "raise", "crash("),
    in_effect("import", "import os  # <-", "import", "top of the file"),
    in_effect("def", "def inner() -> None:  # <-\n    pass", "function inside a function", "in the module"),
    in_effect("match", "match s.color:  # <-\n    case _:\n        pass", "match", "'if' and 'elif'"),
    in_effect("loop-else", "for j in Item:  # <-\n    pass\nelse:\n    s.flag = True", "'else' of a loop"),
    in_effect("loop-targets", "for a, b in Item:  # <-\n    pass", "loop", "plain name"),
    in_effect("two-targets", "s.number = s.level[i] = 1  # <-", "chain of assignments", "one line for each"),
    in_effect("tuple-target", "a, b = 1, 2  # <-", "several targets", "one line for each"),
    in_effect("unused-value", "s.number + 1  # <-", "is not used", "assign it"),
    in_effect("unused-call", "len(s.queue)  # <-", "is not used", "assign it"),
    in_effect(
        "changes-what-it-loops-over",
        "for j in s.queue:  # <-\n    s.queue.remove(j)",
        "changes the sequence",
        "filter",
    ),
    in_effect(
        "loop-calls-what-changes",
        "for j in s.parts:  # <-\n    s.parts.clear()",
        "changes the sequence",
    ),
    in_effect("late-require", "s.flag = True\nrequire(s.flag)  # <-", "'require'", "top of an action"),
    in_effect("require-in-if", "if s.flag:\n    require(s.flag)  # <-", "'require'", "top of an action"),
    in_effect("empty-require", "require()  # <-", "require() takes one condition"),
    in_effect("returns-value", "return 3  # <-", "returns a value", "action returns None"),
    in_effect(
        "perhaps-unset",
        "if s.flag:\n    x = 1\ns.number = x  # <-",
        "'x' may have no value",
        "before the 'if'",
    ),
    in_effect("after-the-loop", "for j in Item:\n    pass\ns.owner = j  # <-", "'j' may have no value"),
]
