"""Functions and actions: their parameters, their results, their calls."""

from tests.model.language.misuses.misuse import Misuse

MISUSES = [
    Misuse(
        "recursion",
        """
        def down(n: int) -> int:
            return 0 if n == 0 else down(n - 1)  # <-

        @action
        def step(s: S) -> None:
            s.number = down(s.number)
        """,
        ("down calls itself", "write a loop"),
    ),
    Misuse(
        "mutual-recursion",
        """
        def odd(n: int) -> bool:
            return n != 0 and even(n - 1)

        def even(n: int) -> bool:
            return n == 0 or odd(n - 1)  # <-

        @action
        def step(s: S) -> None:
            s.flag = odd(s.number)
        """,
        ("odd calls itself", "write a loop"),
    ),
    Misuse(
        "untyped-parameter",
        """
        @action
        def step(s: S, i) -> None:  # <-
            s.owner = i
        """,
        ("step", "parameter 'i' has no type", "write 'i: type'"),
    ),
    Misuse(
        "untyped-helper",
        """
        def twice(n) -> int:  # <-
            return 2 * n

        @action
        def step(s: S) -> None:
            s.number = twice(1)
        """,
        ("twice", "parameter 'n' has no type", "write 'n: type'"),
    ),
    Misuse(
        "no-result-type",
        """
        def twice(n: int):  # <-
            return 2 * n

        @action
        def step(s: S) -> None:
            s.number = twice(1)
        """,
        ("twice has no result type", "write '-> bool'"),
    ),
    Misuse(
        "end-without-return",
        """
        def sign(n: int) -> int:  # <-
            if n > 0:
                return 1

        @action
        def step(s: S) -> None:
            s.number = sign(s.number)
        """,
        ("sign can end without 'return'", "on every way"),
    ),
    Misuse(
        "nothing-as-value",
        """
        def clear(s: S) -> None:
            s.flag = False

        @action
        def step(s: S) -> None:
            s.flag = clear(s)  # <-
        """,
        ("clear returns nothing", "line of its own"),
    ),
    Misuse(
        "effect-in-guard",
        """
        def take(s: S) -> bool:
            s.flag = True  # <-
            return True

        @action
        def step(s: S) -> None:
            require(take(s))
            s.number = 1
        """,
        ("state is changed here", "only the effect of an action"),
    ),
    Misuse(
        "too-many-arguments",
        """
        def twice(n: int) -> int:
            return 2 * n

        @action
        def step(s: S) -> None:
            s.number = twice(1, 2)  # <-
        """,
        ("twice takes 1 argument", "2 are given"),
    ),
    Misuse(
        "call-of-an-action",
        """
        @action
        def other(s: S) -> None:
            s.flag = True

        @action
        def step(s: S) -> None:
            other(s)  # <-
        """,
        ("action other is called", "helper function"),
    ),
    Misuse(
        "no-state",
        """
        @action
        def step() -> None:  # <-
            pass
        """,
        ("step has no state parameter", "write 'def step(s: S"),
    ),
    Misuse(
        "first-is-no-state",
        """
        @action
        def step(i: Item, s: S) -> None:  # <-
            s.owner = i
        """,
        ("step", "parameter 'i' has to be the state", "write 'i: S'"),
    ),
    Misuse(
        "unbounded-parameter",
        """
        @action
        def step(s: S, n: int) -> None:  # <-
            s.number = n
        """,
        ("step: parameter 'n'", "no bounds", "Annotated[int, Range("),
    ),
    Misuse(
        "text-parameter",
        """
        @action
        def step(s: S, n: str) -> None:  # <-
            s.flag = True
        """,
        ("step: parameter 'n'", "type str is not in the language", "write an enum"),
    ),
    Misuse(
        "default-parameter",
        """
        @action
        def step(s: S, flag: bool = True) -> None:  # <-
            s.flag = flag
        """,
        ("step", "parameters are plain names"),
    ),
    Misuse(
        "action-with-result",
        """
        @action
        def step(s: S) -> bool:  # <-
            return s.flag
        """,
        ("step is an action and returns nothing", "write '-> None'"),
    ),
    Misuse(
        "undefined-annotation",
        """
        @action
        def step(s: S, i: "Itm") -> None:  # <-
            s.owner = i
        """,
        ("step", "'Itm'", "not defined"),
    ),
]
