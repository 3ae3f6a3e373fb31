"""Properties and witnesses."""

from tests.model.language.misuses.misuse import Misuse

MISUSES = [
    Misuse(
        "number-property",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S) -> int:  # <-
            return s.number

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("good is true or false", "write '-> bool'"),
    ),
    Misuse(
        "property-with-effect",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S) -> bool:
            s.flag = False  # <-
            return True

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("state is changed here",),
    ),
    Misuse(
        "property-with-parameter",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S, i: Item) -> bool:  # <-
            return i not in s.marked

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("good", "'i'", "@step_invariant(on=action)"),
    ),
    Misuse(
        "way-among-properties",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @on_the_way
        def good(s: S) -> bool:
            return s.flag

        system = System("t", S, actions=[step], properties=[good])  # <-
        """,
        ("system t", "property good", "wrong list", "write on_the_way=[good]"),
    ),
    Misuse(
        "property-on-the-way",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S) -> bool:
            return s.flag

        system = System("t", S, actions=[step], on_the_way=[good])  # <-
        """,
        ("system t", "property good", "wrong list", "write properties=[good]"),
    ),
    Misuse(
        "way-without-mark",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        def good(s: S) -> bool:
            return s.flag

        system = System("t", S, actions=[step], on_the_way=[good])  # <-
        """,
        ("system t", "good is not marked", "write '@on_the_way'"),
    ),
    Misuse(
        "way-without-a-type",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @on_the_way
        def good(s: S, i) -> bool:  # <-
            return s.flag

        system = System("t", S, actions=[step], on_the_way=[good])
        """,
        ("good", "parameter 'i' has no type", "write 'i: type'"),
    ),
    Misuse(
        "two-of-a-name-on-the-way",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S) -> bool:
            return True

        hoped = on_the_way(good.function)
        system = System("t", S, actions=[step], properties=[good], on_the_way=[hoped])  # <-
        """,
        ("two properties named 'good'", "rename one"),
    ),
    Misuse(
        "other-parameters",
        """
        @action
        def step(s: S, i: Item) -> None:
            s.flag = True

        @step_invariant(on=step)
        def good(before: S, after: S, c: Color) -> bool:  # <-
            return after.flag

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("good", "action step has the parameters (i: Item)", "all of them or none"),
    ),
    Misuse(
        "step-of-one-state",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @step_invariant
        def good(s: S) -> bool:  # <-
            return s.flag

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("good", "'before' and 'after'"),
    ),
    Misuse(
        "crash-in-property",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        @invariant
        def good(s: S) -> bool:
            if s.flag:
                crash("found")  # <-
            return True

        system = System("t", S, actions=[step], properties=[good])
        """,
        ("'crash'", "effect of an action"),
    ),
    *(
        Misuse(
            f"about-{name}",
            f"""
            @action
            def step(s: S) -> None:
                s.flag = True

            @step_invariant(on={on})  # <-
            def good(before: S, after: S) -> bool:
                return True

            system = System("s", S, actions=[step], properties=[good])
            """,
            ("is no action", "write '@step_invariant(on=action)'"),
        )
        for name, on in (("a-number", "3"), ("a-name", "'step'"), ("a-number-too", "(step, 3)"))
    ),
]
