"""Systems, what they list, the marks of their actions, the answers to their decisions."""

from tests.model.language.misuses.misuse import Misuse

MISUSES = [
    Misuse(
        "no-state-class",
        """
        @action
        def step(s: S) -> None:
            s.flag = True

        system = System("t", Part, actions=[step])  # <-
        """,
        ("state is", "write a subclass of State"),
    ),
    Misuse(
        "unmarked-action",
        """
        def step(s: S) -> None:
            s.flag = True

        system = System("t", S, actions=[step])  # <-
        """,
        ("step is not marked", "write '@action' above it"),
    ),
    Misuse(
        "twice-the-same-name",
        """
        def make():
            @action
            def step(s: S) -> None:
                s.flag = True
            return step

        system = System("t", S, actions=[make(), make()])  # <-
        """,
        ("two actions named 'step'", "rename one"),
    ),
    Misuse(
        "no-alternatives",
        """
        @decision
        def chosen(s: S) -> bool:
            '''Whether to go on.'''

        @action
        def step(s: S) -> None:
            s.flag = chosen(s)  # <-
        """,
        ("decision chosen has no alternatives", "System(decisions=[Alternatives("),
    ),
    Misuse(
        "different-alternatives",
        """
        @decision
        def chosen(s: S) -> bool:
            '''Whether to go on.'''

        def one(s: S) -> bool:
            return True

        def two(s: S) -> int:
            return 2

        @action
        def step(s: S) -> None:
            s.flag = chosen(s)  # <-

        system = System(
            "t", S, actions=[step], decisions=[Alternatives(chosen, one, two)], choices={"chosen": "one"}
        )
        """,
        ("alternative two of decision chosen returns another type",),
    ),
    Misuse(
        "unknown-choice",
        """
        @decision
        def chosen(s: S) -> bool:
            '''Whether to go on.'''

        def one(s: S) -> bool:
            return True

        @action
        def step(s: S) -> None:
            s.flag = chosen(s)

        system = System("t", S, actions=[step], decisions=[Alternatives(chosen, one)])
        system = system.with_choices({"chosen": "two"})  # <-
        """,
        ("decision chosen has no alternative 'two'",),
    ),
    *(
        Misuse(
            f"marked-{name}",
            f"""
            {marks[0]}
            {marks[1]}
            def step({parameters}) -> {result}:
                return{value}
            """,
            ("step is marked twice", "keep one"),
        )
        for name, marks, parameters, result, value in (
            ("twice", ("@action  # <-", "@action"), "s: S", "None", ""),
            ("twice-with-words", ("@action(actor='x')  # <-", "@initial"), "s: S", "None", ""),
            ("as-two-properties", ("@witness  # <-", "@invariant"), "s: S", "bool", " True"),
            ("as-two-kinds", ("@step_invariant  # <-", "@decision"), "a: S, b: S", "bool", " True"),
        )
    ),
    Misuse(
        "mark-above-a-class",
        """
        @invariant  # <-
        class Good:
            pass
        """,
        ("is no function", "write 'def name(…):'"),
    ),
    *(
        Misuse(
            f"system-{name}",
            f"""
            @action
            def step(s: S) -> None:
                s.flag = True

            @decision
            def choice(s: S) -> bool:
                raise NotImplementedError

            def yes(s: S) -> bool:
                return True

            system = System({arguments})  # <-
            """,
            words,
        )
        for name, arguments, words in (
            ("without-a-name", "'', S, [step]", ("system ''", "one line of text")),
            ("named-in-two-lines", "'a\\nb', S, [step]", ("one line of text",)),
            ("of-one-action", "'s', S, step", ("actions is action step", "write a list: actions=[…]")),
            ("of-no-actions", "'s', S, None", ("actions is None", "write a list: actions=[…]")),
            ("of-an-iterator", "'s', S, iter([step])", ("actions is ", "write a list: actions=[…]")),
            ("of-a-set", "'s', S, {step}", ("actions is ", "write a list: actions=[…]")),
            ("that-starts-once", "'s', S, [step], initial=step", ("initial is", "write a list: initial=[…]")),
            ("of-one-property", "'s', S, [step], properties=3", ("write a list: properties=[…]",)),
            ("of-listed-sizes", "'s', S, [step], parameters=[3]", ("write values by name: parameters={",)),
            (
                "of-nameless-sizes",
                "'s', S, [step], parameters={3: 3}",
                ("write values by name: parameters={",),
            ),
            ("with-meaning", "'s', S, [step], meaning=3", ("meaning is 3", "write a text")),
            ("final-now", "'s', S, [step], final=True", ("final is True", "write a function of the state")),
            ("of-a-decision", "'s', S, [step], decisions=[choice]", ("write Alternatives(decision",)),
            (
                "of-marked-alternatives",
                "'s', S, [step], decisions=[Alternatives(choice, choice)]",
                ("is no function", "no mark"),
            ),
            (
                "of-alternatives-of-nothing",
                "'s', S, [step], decisions=[Alternatives(yes, yes)]",
                ("is no decision", "write '@decision'"),
            ),
            (
                "of-equal-alternatives",
                "'s', S, [step], decisions=[Alternatives(choice, yes, yes)]",
                ("two alternatives named 'yes'", "rename one"),
            ),
            (
                "of-equal-decisions",
                "'s', S, [step], decisions=[Alternatives(choice, yes), Alternatives(choice, yes)]",
                ("two decisions named 'choice'", "rename one"),
            ),
            (
                "of-an-unknown-choice",
                "'s', S, [step], decisions=[Alternatives(choice, yes)], choices={'choice': 'no'}",
                ("no alternative 'no'", "it has: yes"),
            ),
            (
                "of-a-choice-of-nothing",
                "'s', S, [step], decisions=[Alternatives(choice, yes)], choices={'chance': 'yes'}",
                ("no decision 'chance'",),
            ),
        )
    ),
    Misuse(
        "decision-outside",
        """
        @decision
        def chosen(n: int) -> bool:
            '''Whether to go on.'''

        ALWAYS = chosen(1)  # <-

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("decision chosen has no meaning outside a system",),
    ),
    Misuse(
        "lambda-as-action",
        """
        step = action(lambda s: None)  # <-
        """,
        ("no plain function", "write 'def"),
    ),
    Misuse(
        "async-action",
        """
        @action
        async def step(s: S) -> None:  # <-
            s.flag = True
        """,
        ("step", "no plain function", "write 'def step("),
    ),
]
