"""Values of one type where another is needed."""

from tests.model.language.misuses.misuse import in_effect

MISUSES = [
    in_effect("other-enum", "s.flag = s.color == Shape.RED  # <-", "a Color is compared with a Shape"),
    in_effect("never-none", "s.flag = s.color is None  # <-", "a Color is never None"),
    in_effect("wrong-type", "s.color = Shape.RED  # <-", "a Shape where a Color is needed"),
    in_effect("number-as-element", "s.owner = 1  # <-", "a int where a Item is needed"),
    in_effect("none-into-bool", "s.flag = None  # <-", "None where a bool is needed", "'bool | None'"),
    in_effect("untyped-none", "x = None  # <-", "starts as None", "write 'x: type = …'"),
    in_effect("class-as-value", "s.owner = Item  # <-", "class Item is used as a value", "instance"),
    in_effect("function-as-value", "s.flag = any  # <-", "function any is used as a value", "call it"),
    in_effect("element-arithmetic", "s.number = i + 1  # <-", "arithmetic with a Item", "'.index'"),
    in_effect("out-of-domain", "s.owner = Item(3)  # <-", "Item(3) leaves the domain of 3"),
    in_effect("number-as-condition", "if s.number:  # <-\n    s.flag = True", "no condition", "compare it"),
    in_effect("optional-as-condition", "if s.owner:  # <-\n    s.flag = True", "no condition", "is not None"),
    in_effect("set-in-and", "s.flag = s.flag and s.marked  # <-", "'and' or 'or'", "len(x) > 0"),
    in_effect("order-of-colors", "s.flag = s.color < Color.BLUE  # <-", "a Color has no order"),
    in_effect("whole-record", "s.flag = s.part == s.part  # <-", "whole records", "compare their fields"),
    in_effect("record-in", "s.flag = i in s.parts  # <-", "sequence of records", "any(x.field"),
    in_effect("record-remove", "s.parts.remove(i)  # <-", "sequence of records", "filter"),
    in_effect("whole-map", "s.level = s.level  # <-", "whole Map[Item", "write its items"),
    in_effect("record-field", "s.parts.append(Part(colour=Color.RED))  # <-", "Part has no field 'colour'"),
]
