"""Progress and fairness."""

from tests.model.language.misuses.misuse import Misuse

MISUSES = [
    Misuse(
        "progress-without-fairness",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:  # <-
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done])
        """,
        ("done is a progress property", "assumes no fairness", "write System(…, fairness=[weak(action), …])"),
    ),
    Misuse(
        "progress-of-a-bool",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return s.flag  # <-

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step)])
        """,
        ("done is marked '@eventually'", "leads_to(premise, goal)"),
    ),
    Misuse(
        "progress-with-two-returns",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            if s.flag:
                return True  # <-
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step)])
        """,
        ("its one 'return' is leads_to(premise, goal)",),
    ),
    Misuse(
        "progress-without-goal",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(s.flag)  # <-

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step)])
        """,
        ("leads_to() takes a premise and a goal",),
    ),
    Misuse(
        "fairness-of-nothing",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[weak()])  # <-
        """,
        ("weak(): names no action", "write weak(action, …)"),
    ),
    Misuse(
        "fairness-of-a-property",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[strong(done)])  # <-
        """,
        ("strong(property done): is no action", "'@action'"),
    ),
    Misuse(
        "fairness-of-a-foreign-action",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        @action
        def other(s: S) -> None:
            s.flag = False

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step, other)])  # <-
        """,
        ("weak(step or other): system s has no action other", "leave it out"),
    ),
    Misuse(
        "fairness-for-each-of-nothing",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step, each="j")])  # <-
        """,
        ("each: no parameter 'j' in action step", "it has: i"),
    ),
    Misuse(
        "fairness-where-of-another-type",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        def marked(s: S, i: Color) -> bool:  # <-
            return True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[weak(step, where=marked)])
        """,
        ("'i' is Item in the actions", "write that type here"),
    ),
    Misuse(
        "fairness-that-is-no-fairness",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @eventually
        def done(s: S) -> bool:
            return leads_to(True, s.flag)

        system = System("s", S, actions=[step], properties=[done], fairness=[step])  # <-
        """,
        ("fairness action step", "write weak(action) or strong(action)"),
    ),
]
