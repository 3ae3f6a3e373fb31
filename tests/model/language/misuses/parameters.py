"""Parameters and domains: their declarations, their values, their use outside a system."""

from tests.model.language.misuses.misuse import Misuse

MISUSES = [
    Misuse(
        "text-for-number",
        """
        size = parameter("size", int, "three", "how many")  # <-

        class Thing(Domain, size=size, names="t{n}"):
            '''Something.'''

        class T(State):
            held: Thing | None = field(None, "a thing")

        @action
        def step(s: T, t: Thing) -> None:
            s.held = t

        system = System("t", T, actions=[step])
        """,
        ("parameter size", "'three' is no int"),
    ),
    Misuse(
        "empty-domain",
        """
        class Nobody(Domain, size=0, names="n{n}"):
            '''Nothing.'''

        @action
        def step(s: S, n: Nobody) -> None:  # <-
            s.flag = True
        """,
        ("Nobody", "at least one"),
    ),
    Misuse(
        "size-of-text",
        """
        class Named(Domain, size="three", names="n{n}"):  # <-
            '''Three.'''

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("domain Named: size is 'three'", "write a number or an int parameter"),
    ),
    Misuse(
        "element-of-no-number",
        """
        class Holder(State):
            owner: Item = field(Item("i1"), "an item")  # <-

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("Item('i1')", "named by its number", "Item(0)"),
    ),
    Misuse(
        "parameter-of-a-map-without-values",
        """
        @action
        def step(s: S, m: "Map[Item]") -> None:  # <-
            s.flag = True
        """,
        ("step: an annotation is no type (TypeError: Too few arguments", "write a type of the language"),
    ),
    Misuse(
        "parameter-without-a-name",
        """
        other = parameter("how many", int, 3, "a number")  # <-

        @action
        def step(s: S) -> None:
            s.number = other
        """,
        ("parameter 'how many'", "--set NAME=VALUE"),
    ),
    Misuse(
        "parameter-of-another-type",
        """
        other = parameter("other", float, 3, "a number")  # <-

        @action
        def step(s: S) -> None:
            s.number = other
        """,
        ("parameter other: type float", "write 'Annotated[int, Range"),
    ),
    Misuse(
        "parameter-for-some-keys",
        """
        other = parameter("other", Map[Item, bool], {"i1": True}, "a map")  # <-

        @action
        def step(s: S, i: Item) -> None:
            s.flag = other[i]
        """,
        ("nothing for key i2", "all others one: *"),
    ),
    Misuse(
        "parameter-of-no-set",
        """
        other = parameter("other", Set[Item], None, "a set")  # <-

        @action
        def step(s: S, i: Item) -> None:
            s.flag = i in other
        """,
        ("None is no set", "the empty one is {}"),
    ),
    *(
        Misuse(
            f"names-{name}",
            f"""
            class Named(Domain, size=count, names={names}):  # <-
                '''Three.'''

            @action
            def step(s: S) -> None:
                s.flag = True
            """,
            ("domain Named: names=", said, "write a format", "tuple of different names"),
        )
        for name, names, said in (
            ("in-one-text", '"ABC"', "the same name"),
            ("of-another-word", '"n{x}"', "is no format"),
            ("with-an-open-brace", '"n{"', "is no format"),
            ("of-a-place", '"n{0}"', "is no format"),
            ("of-a-calculation", '"n{i//2}"', "is no format"),
            ("that-are-equal", '("a", "b", "a")', "a name twice"),
            ("that-are-numbers", "[1, 2, 3]", "no sequence of names"),
            ("that-are-no-sequence", "3", "no sequence of names"),
        )
    ),
    Misuse(
        "parameter-outside",
        """
        if count:  # <-
            pass

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("parameter count has no meaning outside a system", "read it inside"),
    ),
    Misuse(
        "domain-outside",
        """
        ITEMS = [i for i in Item]  # <-

        @action
        def step(s: S) -> None:
            s.flag = True
        """,
        ("domain Item has no meaning outside a system", "inside the language"),
    ),
]
