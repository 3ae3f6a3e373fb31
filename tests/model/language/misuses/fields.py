"""Fields of a state or a record, their types and their initial values."""

from tests.model.language.misuses.misuse import Misuse

MISUSES = [
    Misuse(
        "unbounded-int",
        """
        class T(State):
            n: int = field(0, "any number")  # <-

        @action
        def step(s: T) -> None:
            s.n += 1

        system = System("t", T, actions=[step])
        """,
        ("T.n", "no bounds", "Annotated[int, Range("),
    ),
    Misuse(
        "text-field",
        """
        class T(State):
            name: str = field("", "a name")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.name", "type str is not in the language", "write an enum"),
    ),
    Misuse(
        "list-field",
        """
        class T(State):
            row: list[Item] = field((), "a row")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.row", "list", "write 'Seq[…]'"),
    ),
    Misuse(
        "big-set",
        """
        class Page(Domain, size=65, names="p{n}"):
            '''One too many.'''

        class T(State):
            held: Set[Page] = field(frozenset(), "pages")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.held", "set of 65 elements", "write Map[Page, bool]"),
    ),
    Misuse(
        "union",
        """
        class T(State):
            either: Item | Color | None = field(None, "one or the other")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.either", "union", "write 'X | None'"),
    ),
    Misuse(
        "sequence-without-bound",
        """
        class T(State):
            row: Seq[Color] = field((), "colors")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.row", "sequence without bound", "Capacity(n)"),
    ),
    Misuse(
        "map-from-numbers",
        """
        class T(State):
            table: Map[int, bool] = field(False, "a table")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.table", "no bounds"),
    ),
    Misuse(
        "no-initial-value",
        """
        class T(State):
            flag: bool  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.flag has no initial value", "field(initial"),
    ),
    Misuse(
        "no-field-type",
        """
        class T(State):
            flag = field(False, "a truth value")  # <-
            other: bool = field(False, "another")

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.flag has no type", "write 'flag: type = field("),
    ),
    Misuse(
        "initial-out-of-range",
        """
        class T(State):
            n: Annotated[int, Range(0, 2)] = field(3, "a number")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.n", "initial value", "3 leaves the range 0..2"),
    ),
    Misuse(
        "empty-range",
        """
        class T(State):
            n: Annotated[int, Range(2, 0)] = field(0, "a number")  # <-

        @action
        def step(s: T) -> None:
            pass

        system = System("t", T, actions=[step])
        """,
        ("T.n", "range 2..0 has no values"),
    ),
    Misuse(
        "local-of-a-type-that-fails",
        """
        @action
        def step(s: S) -> None:
            n: Color.GREEN = 1  # <-
        """,
        ("an annotation is no type (AttributeError: ", "write a type of the language"),
    ),
    Misuse(
        "record-of-a-type-that-fails",
        """
        class Holder(State):  # <-
            owner: "Map[Item]" = field(0, "an item")

        @action
        def step(s: Holder) -> None:
            s.owner = 1

        system = System("s", Holder, actions=[step])
        """,
        ("Holder: an annotation is no type (TypeError: ", "write a type of the language"),
    ),
    *(
        Misuse(
            f"field-{name}",
            f"""
            class Holder(State):
                {declaration}  # <-

            @action
            def step(s: Holder) -> None:
                s.of = 1

            system = System("s", Holder, actions=[step])
            """,
            words,
        )
        for name, declaration, words in (
            ("of-no-keys", "of: Map[Item, bool] = field({}, '')", ("nothing for key i1",)),
            ("of-a-key", "of: Map[Color, bool] = field({Color.RED: True}, '')", ("nothing for key BLUE",)),
            (
                "of-another-key",
                "of: Map[Color, bool] = field({Shape.RED: 1}, '')",
                ("Shape.RED is no Color",),
            ),
            (
                "of-keys-inside",
                "of: Map[Item, Map[Color, bool]] = field({'*': True}, '')",
                ("'*' is no Item",),
            ),
            ("of-no-row", "of: Seq[Item] = field(3, '')", ("3 is no sequence", "write '()'")),
            ("of-a-text", "of: Seq[Item] = field('', '')", ("'' is no sequence", "write '()'")),
            ("of-wrong-items", "of: Seq[Item] = field((Color.RED,), '')", ("Color.RED is no Item",)),
            (
                "of-parts-too-heavy",
                "of: Annotated[Seq[Part], Capacity(2)] = field((Part(weight=10),), '')",
                ("10 leaves the range 0..9",),
            ),
            ("of-a-made-record", "of: Part = field(Part(weight=2), '')", ("write 'of: type'",)),
            ("of-a-base", "of: Record", ("Record by itself is no type", "write a subclass")),
            ("of-no-domain", "of: Domain = field(0, '')", ("Domain by itself is no type", "a subclass")),
            ("of-no-enum", "of: enum.Enum = field(0, '')", ("Enum by itself is no type", "a subclass")),
            ("of-itself", "of: 'Holder'", ("Holder contains itself", "leave it out")),
            (
                "of-a-million",
                "of: Annotated[Seq[bool], Capacity(1_000_000)] = field((), '')",
                ("1,000,001 cells", "at most 65,536", "make it smaller"),
            ),
            ("under-a-dash", "_of: bool = field(False, '')", ("Holder._of", "begins with a letter")),
            ("under-two-dashes", "__of: bool = field(False, '')", ("Holder.__of", "begins with a letter")),
        )
    ),
]
