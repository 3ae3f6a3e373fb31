"""Names and expressions that are not in the language."""

from tests.model.language.misuses.misuse import in_effect

MISUSES = [
    in_effect("unknown-name", "s.number = numbr  # <-", "'numbr' is not defined"),
    in_effect(
        "near-name", "count_of = 1\ns.number = count_off  # <-", "'count_off'", "did you mean count_of"
    ),
    in_effect("unknown-function", "s.number = lenn(s.queue)  # <-", "'lenn' is not defined"),
    in_effect("near-field", "s.ownr = i  # <-", "S has no field 'ownr'", "did you mean owner"),
    in_effect("near-member", "s.color = Color.RES  # <-", "Color has no member 'RES'", "did you mean RED"),
    in_effect("field-of-element", "s.number = i.level  # <-", "Item has no 'level'", "'.index'"),
    in_effect("alias", "p = s.part  # <-\np.weight = 1", "another name of a Part", "write the whole path"),
    in_effect("alias-of-map", "m = s.level  # <-", "another name of a Map[Item", "write the whole path"),
    in_effect(
        "list-reads-what-it-replaces",
        "s.queue = [j for j in Item if j in s.queue]  # <-",
        "reads the sequence that it replaces",
        "compute a set before",
    ),
    in_effect("set-add", "s.marked.add(i)  # <-", "no method 'add'", "write 's.x |= {a}'"),
    in_effect("set-discard", "s.marked.discard(i)  # <-", "no method 'discard'", "write 's.x -= {a}'"),
    in_effect("set-union", "s.marked = s.marked.union({i})  # <-", "method 'union'", "write 'a | b'"),
    in_effect("map-get", "s.number = s.level.get(i)  # <-", "method 'get'", "write 'm[k]'"),
    in_effect("pop-without-index", "s.queue.pop()  # <-", "'pop' with 0 arguments", "pop(i)"),
    in_effect("sort", "s.queue.sort()  # <-", "'sort'", "sequences have append(x)"),
    in_effect("float", "s.number = 1.5  # <-", "float", "write a whole number"),
    in_effect("division", "s.number = s.number / 2  # <-", "operator '/'", "write '//'"),
    in_effect("divide-by-variable", "s.number = 3 // s.number  # <-", "no positive constant", "divide by"),
    in_effect("modulo-zero", "s.number = s.number % 0  # <-", "no positive constant"),
    in_effect("power", "s.number = s.number**2  # <-", "operator '**'", "ints have + - * // %"),
    in_effect("text", "s.number = 'a' + 'b'  # <-", "text", "member of an enum"),
    in_effect("text-format", "s.color = f'{s.number}'  # <-", "text", "use an enum"),
    in_effect("lambda", "f = lambda x: x  # <-", "lambda", "function with a name"),
    in_effect("dict", "d = {i: 1}  # <-", "dict", "declare a Map"),
    in_effect("list", "d = [i]  # <-", "list", "sequence of the state"),
    in_effect("tuple", "d = (i, i)  # <-", "tuple", "one value at a time"),
    in_effect("slice", "s.queue = s.queue[1:]  # <-", "slice", "filter [x for x in q"),
    in_effect("slice-set", "s.queue[1:] = []  # <-", "slice", "filter [x for x in q"),
    in_effect("slice-value", "s.queue[:] = s.marked  # <-", "slice", "filter [x for x in q"),
    in_effect(
        "item-from-the-end",
        "require(len(s.queue) > 0)\ns.owner = s.queue[-1]  # <-",
        "s.queue is indexed by -1",
        "counts from the front",
        "write 'len(s.queue) - 1'",
    ),
    in_effect("item-from-the-end-set", "s.queue[-2] = i  # <-", "by -2", "write 'len(s.queue) - 2'"),
    in_effect("item-from-the-end-field", "s.parts[-1].weight = 1  # <-", "write 'len(s.parts) - 1'"),
    in_effect("item-from-the-end-named", "s.owner = s.queue[LAST]  # <-", "s.queue is indexed by -1"),
    in_effect("item-from-the-end-computed", "s.owner = s.queue[1 - 2]  # <-", "s.queue is indexed by -1"),
    in_effect("pop-from-the-end", "s.queue.pop(-1)  # <-", "by -1", "write 'len(s.queue) - 1'"),
    in_effect("taken-from-the-end", "s.owner = s.queue.pop(-1)  # <-", "write 'len(s.queue) - 1'"),
    in_effect("insert-from-the-end", "s.queue.insert(-1, i)  # <-", "write 'len(s.queue) - 1'"),
    in_effect("slice-from-the-end", "s.queue = s.queue[-2:]  # <-", "slice", "filter [x for x in q"),
    in_effect("slice-from-the-end-set", "s.queue[-2:] = []  # <-", "slice", "filter [x for x in q"),
    in_effect(
        "delete-from-the-end", "del s.queue[-1]  # <-", "del is not in the language", "remove the item"
    ),
    in_effect("walrus", "if (x := s.number) > 1:  # <-\n    s.flag = True", "':='", "line of its own"),
    in_effect("starred", "s.number = max(*s.level)  # <-", "'*'", "one by one"),
    in_effect("print", "print(s.number)  # <-", "print() is not in the language"),
    in_effect("open", "f = open('x')  # <-", "open() is not in the language"),
    in_effect(
        "sorted", "s.queue = sorted(s.marked)  # <-", "sorted() is not in the language", "in order already"
    ),
    in_effect("module", "s.number = math.floor(1)  # <-", "through its module", "import the name"),
    in_effect("pure-python", "s.number = dedent('x')  # <-", "'dedent' is not defined"),
    in_effect(
        "two-generators", "s.flag = any(a == b for a in Item for b in Item)  # <-", "two 'for'", "nest"
    ),
    in_effect("lone-generator", "g = (a for a in Item)  # <-", "generator by itself", "inside any"),
    in_effect("set-of-numbers", "x = {1, 2}  # <-", "set of", "elements of a domain or enum"),
]
