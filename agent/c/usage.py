"""What a C file uses and nothing declares: the interface that tests define where the header under test is empty.

Facts only. A function's parameter types are those of the arguments it is called with, its return type is what takes the
result: the variable it initialises or is assigned to, or the assertion around it (``..._UINT8``, ``..._STRING``). Members of
a type come from ``x.member``, designated initialisers and literals. What the uses leave open is said to be open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

import tree_sitter

from agent.c.declarations.definitions import pieces_of
from agent.c.declarations.functions import declared_names, functions
from agent.c.grids import declare, with_grids
from agent.c.headers import header_table
from agent.c.preprocessor.comments import on_one_line
from agent.c.preprocessor.includes import includes_of
from agent.c.syntax.tree import parse_c
from agent.c.used import Usage as Usage
from agent.c.used import UsedFunction, UsedType
from agent.language.nodes import first_text, text_of, walk

_SUFFIX_TYPES = {
    "UINT8": "uint8_t", "UINT16": "uint16_t", "UINT32": "uint32_t", "UINT64": "uint64_t", "UINT": "unsigned int",
    "INT8": "int8_t", "INT16": "int16_t", "INT32": "int32_t", "INT64": "int64_t", "INT": "int", "HEX8": "uint8_t",
    "HEX16": "uint16_t", "HEX32": "uint32_t", "HEX64": "uint64_t", "HEX": "unsigned int", "SIZE_T": "size_t",
    "FLOAT": "float", "DOUBLE": "double", "STRING": "const char *", "STR": "const char *", "CHAR": "char", "BOOL": "bool",
    "TRUE": "bool", "FALSE": "bool", "SIZE": "size_t",
}  # fmt: skip
"""The last words of an assertion's name to the type of what it compares (Unity, CHECK, Criterion, minunit)."""

_ARRAYS = re.compile(r"_ARRAY(?:_MESSAGE|_LEN)?$")
_ASSERTION = re.compile(r"(?i)(?:^|_)(?:assert|check|expect|require|equal|eq|true|false)")
_SHOWN = 6
"""Lines that show how types are used, of at most :data:`_LINE` characters."""

_LINE = 200
_BY_POSITION = ("x", "y", "z")
"""Names of members that tests never name."""

_NAMES = {"const char *": "text", "char *": "text", "char": "letter", "bool": "flag", "size_t": "size"}
"""Names of parameters of plain types to which tests hand no variable."""

_KEYWORDS = frozenset({"true", "false", "NULL", "stdin", "stdout", "stderr", "errno"})
_CONSTANT = re.compile(r"^[A-Z][A-Z0-9_]*$")
_PLAIN = re.compile(
    r"^(?:const )?(?:(?:un)?signed |long |short )*(?:u?int\d*(?:_t)?|char|short|long|float|double|bool|size_t)$"
)


def undeclared_usage(sources: Sequence[bytes], headers: Sequence[bytes]) -> Usage:
    """What ``sources`` (tests) use that neither they nor ``headers`` (all of the project) nor the system declares."""
    found = _Uses(headers)
    for source in sources:
        found.read(source)
    return found.usage()


class _Uses:
    def __init__(self, headers: Sequence[bytes]) -> None:
        pieces = [piece for data in headers for piece in pieces_of(data)]
        self.declared = {name for piece in pieces for name in piece.names} | _KEYWORDS
        self.declared |= {function.name for data in headers for function in functions(data)}
        self.calls: dict[str, list[tuple[str, ...]]] = {}
        self.given: dict[str, list[tuple[str, ...]]] = {}
        self.results: dict[str, Counter[str]] = {}
        self.used_types: dict[str, None] = {}
        self.behind: Counter[str] = Counter()
        self.plain: Counter[str] = Counter()
        self.members: dict[str, dict[str, str]] = {}
        self.lists: dict[str, tuple[str, ...]] = {}
        self.constants: dict[str, None] = {}
        types = [piece for piece in pieces if piece.kind == "type"]
        self.constant_types = {name: _type_of(piece.text) for piece in types for name in piece.names}
        self.subscripted: set[tuple[str, str]] = set()
        self.compared: dict[tuple[str, str], dict[str, None]] = {}
        """The constants that a member (type, name) is compared with."""
        self.scope: dict[str, str] = {}
        self.handed: dict[str, tuple[str, ...]] = {}
        """The types of the parameters of the tests' own functions."""
        self.numbers: dict[str, list[tuple[str, ...]]] = {}
        """The whole numbers that are handed over in each call, "" for everything else."""
        self.lines: dict[str, None] = {}
        self.unknown: Callable[[str], bool] = lambda name: name not in self.declared

    def read(self, source: bytes) -> None:
        root = parse_c(source)
        own = {name for piece in pieces_of(source) for name in piece.names}
        included = {one.name for one in includes_of(source)}
        homes = header_table().homes

        def unknown(name: str) -> bool:
            if name in self.declared or name in own:
                return False
            return not any(home.group == "c" or home.header in included for home in homes(name))

        self.unknown = unknown
        self._types(root)
        bodies = [node for node in root.children if node.type == "function_definition"]
        self.handed = {_name_in(body): tuple(kind for _, kind in _variables(_parameters(body))) for body in bodies}
        file_scope = dict(_variables([node for node in root.children if node.type == "declaration"]))
        for body in bodies or [root]:
            self.scope = {**file_scope, **dict(_variables(walk(body)))}
            for node in walk(body):
                self._look(node)

    def _types(self, root: tree_sitter.Node) -> None:
        for node in walk(root):
            if node.type == "type_identifier" and self.unknown(text_of(node)):
                if node.parent is not None and node.parent.type in ("struct_specifier", "union_specifier", "enum_specifier"):
                    continue
                name = text_of(node)
                self.used_types.setdefault(name, None)
                self._note_line(node)
                owner = node.parent
                declarator = owner.child_by_field_name("declarator") if owner is not None else None
                behind = declarator is not None and "pointer" in declarator.type
                (self.behind if behind or _points(declarator) else self.plain)[name] += 1

    def _note_line(self, node: tree_sitter.Node) -> None:
        while node.parent is not None and not node.type.endswith(("declaration", "_statement")):
            node = node.parent
        text = on_one_line(text_of(node))
        if len(text) <= _LINE and node.type.endswith(("declaration", "_statement")):
            self.lines.setdefault(text, None)

    def _look(self, node: tree_sitter.Node) -> None:
        if node.type == "call_expression":
            self._call(node)
        elif node.type == "field_expression":
            self._member(node)
        elif node.type == "init_declarator":
            self._initialised(node)
        elif node.type == "compound_literal_expression":
            kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
            if kind is not None and value is not None:
                self._list(_bare(text_of(kind)), value, "[" in text_of(kind))
        elif node.type == "identifier" and self._is_value(node) and text_of(node) not in self.scope:
            self.constants.setdefault(text_of(node), None)

    def _is_value(self, node: tree_sitter.Node) -> bool:
        """Whether a name is a constant that nothing declares, and no call of a macro."""
        parent, name = node.parent, text_of(node)
        if parent is None or not _CONSTANT.match(name) or not self.unknown(name):
            return False
        return not (parent.type == "call_expression" and parent.child_by_field_name("function") == node)

    def _call(self, node: tree_sitter.Node) -> None:
        callee, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee is None or given is None or callee.type != "identifier":
            return
        name = text_of(callee)
        arguments = [one for one in given.named_children if one.type != "comment"]
        if _ASSERTION.search(name) and self._is_macro(name):
            self._compared(arguments)
            return
        if not self.unknown(name) or name in self.scope or _CONSTANT.match(name):
            return
        self.calls.setdefault(name, []).append(tuple(self._type(one) for one in arguments))
        self.given.setdefault(name, []).append(tuple(_variable(one) for one in arguments))
        numbers = (text_of(one) if one.type == "number_literal" else "" for one in arguments)
        self.numbers.setdefault(name, []).append(tuple(numbers))
        for one, kind in zip(arguments, self.calls[name][-1], strict=True):
            if one.type == "identifier" and kind and _CONSTANT.match(text_of(one)):
                self.constant_types[text_of(one)] = kind
        if result := self._result(node):
            self.results.setdefault(name, Counter())[result] += 1

    def _is_macro(self, name: str) -> bool:
        return bool(re.match(r"[A-Z][A-Z0-9]*(?:_|$)", name)) or name == "assert" or not self.unknown(name)

    def _compared(self, arguments: list[tree_sitter.Node]) -> None:
        """Constants that an assertion compares with a value whose type is known."""
        for one, other in zip(arguments, arguments[1:] + arguments[:1], strict=True):
            if one.type != "identifier" or not _CONSTANT.match(text_of(one)):
                continue
            if member := self._member_of(other):
                self.compared.setdefault(member, {})[text_of(one)] = None
            elif kind := self._type(other):
                self.constant_types.setdefault(text_of(one), kind)

    def _member_of(self, node: tree_sitter.Node) -> tuple[str, str] | None:
        """(type, member) of ``x.member``, where the type is used and not defined."""
        owner, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
        kind = _bare(self._type(owner)) if node.type == "field_expression" and owner is not None else ""
        return (kind, text_of(field)) if field is not None and kind in self.used_types else None

    def _result(self, node: tree_sitter.Node) -> str:
        """The type that the place of a call asks for; "" when it tells nothing, ``void`` for a statement of its own."""
        parent = node.parent
        while parent is not None and parent.type == "parenthesized_expression":
            node, parent = parent, parent.parent
        if parent is None:
            return ""
        if parent.type == "expression_statement":
            return "void"
        if parent.type == "init_declarator":
            return self.scope.get(_name_in(parent), "")
        if parent.type == "assignment_expression":
            left = parent.child_by_field_name("left")
            return self._type(left) if left is not None and left != node else ""
        if parent.type == "argument_list" and parent.parent is not None:
            return self._asserted(node, parent, parent.parent)
        if parent.type in ("unary_expression", "if_statement", "while_statement"):
            return "bool"
        if parent.type == "binary_expression":
            sides = [parent.child_by_field_name("left"), parent.child_by_field_name("right")]
            other = next((one for one in sides if one is not None and one != node), None)
            operator = parent.child_by_field_name("operator")
            if operator is not None and text_of(operator) in ("&&", "||"):
                return "bool"
            return self._type(other) if other is not None else ""
        return ""

    def _asserted(self, node: tree_sitter.Node, given: tree_sitter.Node, call: tree_sitter.Node) -> str:
        callee = call.child_by_field_name("function")
        name = text_of(callee) if callee is not None else ""
        if name in ("strcmp", "strncmp", "strlen", "strstr", "strchr", "puts", "free"):
            return "const char *" if name != "free" else ""
        if own := self.handed.get(name):
            sides = [one for one in given.named_children if one.type != "comment"]
            place = sides.index(node) if node in sides else len(own)
            kind = own[place] if place < len(own) else ""
            return kind.removeprefix("const ") if _bare(kind) in self.used_types else kind
        if not self._is_macro(name):
            return ""
        words = re.sub(r"_(?:MESSAGE|WITHIN)\b|_WITHIN_", "_", name.upper())
        kind = next((t for word, t in _SUFFIX_TYPES.items() if re.search(rf"(?:^|_){word}(?:_|$)", words)), "")
        if kind and _ARRAYS.search(name.upper()):
            return f"{kind} *" if not kind.endswith("*") else f"{kind}*"
        if kind:
            return kind
        if "NULL" in words:
            return "void *"
        others = [one for one in given.named_children if one != node]
        told = next((kind for one in others if (kind := self._type(one))), "")
        return told or ("bool" if name == "assert" else "")

    def _type(self, node: tree_sitter.Node) -> str:
        """The type of an expression as far as its text tells; "" else."""
        match node.type:
            case "parenthesized_expression":
                return self._type(node.named_children[0]) if node.named_children else ""
            case "string_literal" | "concatenated_string":
                return "const char *"
            case "char_literal":
                return "char"
            case "true" | "false":
                return "bool"
            case "number_literal":
                return _number(text_of(node))
            case "sizeof_expression":
                return "size_t"
            case "cast_expression" | "compound_literal_expression":
                kind = node.child_by_field_name("type")
                said = text_of(kind) if kind is not None else ""
                return f"const {_bare(said)} *" if "[" in said else said
            case "identifier":
                return self.scope.get(text_of(node), "") or self.constant_types.get(text_of(node), "")
            case "pointer_expression":
                inner = node.child_by_field_name("argument")
                pointed = self._type(inner) if inner is not None else ""
                address = text_of(node).startswith("&")
                return (_pointer(pointed) if address else pointed.removesuffix("*").strip()) if pointed else ""
            case "subscript_expression":
                inner = node.child_by_field_name("argument")
                array = self._type(inner) if inner is not None else ""
                return re.sub(r"^const (.*)$", r"\1", array.removesuffix("*").strip()) if array.endswith("*") else ""
            case "field_expression":
                owner, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
                holder = _bare(self._type(owner)) if owner is not None else ""
                return self.members.get(holder, {}).get(text_of(field), "") if field is not None else ""
            case "unary_expression":
                inner = node.child_by_field_name("argument")
                return "bool" if text_of(node).startswith("!") else self._type(inner) if inner is not None else ""
            case "binary_expression":
                left = node.child_by_field_name("left")
                right = node.child_by_field_name("right")
                if left is not None and left.type == "sizeof_expression":
                    return "size_t"
                return (self._type(left) if left is not None else "") or (self._type(right) if right is not None else "")
            case "call_expression":
                callee = node.child_by_field_name("function")
                told = self.results.get(text_of(callee)) if callee is not None else None
                return told.most_common(1)[0][0] if told else ""
        return ""

    def _member(self, node: tree_sitter.Node) -> None:
        if (member := self._member_of(node)) is None:
            return
        kind, field = member
        known = self.members.setdefault(kind, {})
        if node.parent is not None and node.parent.type == "subscript_expression":
            self.subscripted.add(member)
        known[field] = self._member_type(node) or known.get(field, "")

    def _member_type(self, node: tree_sitter.Node) -> str:
        parent = node.parent
        if parent is None or parent.type in ("subscript_expression", "binary_expression"):
            return ""
        said = self._result(node)
        return "" if said == "void" else said

    def _initialised(self, node: tree_sitter.Node) -> None:
        value = node.child_by_field_name("value")
        if value is not None and value.type == "initializer_list":
            kind = _bare(self.scope.get(_name_in(node), ""))
            self._list(kind, value, "[" in text_of(node).split("=")[0])

    def _list(self, kind: str, value: tree_sitter.Node, array: bool) -> None:
        """Members of a type from ``{ .x = 1 }``, the types of its parts from ``{ 1, 2 }``; constants from an array."""
        if kind not in self.used_types:
            return
        parts = [one for one in value.named_children if one.type != "comment"]
        if array:
            for one in parts:
                if one.type == "identifier" and _CONSTANT.match(text_of(one)):
                    self.constant_types[text_of(one)] = kind
                elif one.type == "initializer_list":
                    self._list(kind, one, False)
            return
        known = self.members.setdefault(kind, {})
        for one in parts:
            if one.type == "initializer_pair":
                designator, said = one.child_by_field_name("designator"), one.child_by_field_name("value")
                name = text_of(designator).strip(". ") if designator is not None else ""
                if name.isidentifier() and said is not None:
                    known[name] = known.get(name) or self._type(said)
        if parts and all(one.type != "initializer_pair" for one in parts):
            told = tuple(self._type(one) for one in parts)
            if len(told) > len(self.lists.get(kind, ())):
                self.lists[kind] = told

    def usage(self) -> Usage:
        functions = tuple(self._function(name) for name in self.calls)
        enums = self._member_enums()
        types = (*enums, *(self._used_type(name) for name in self.used_types))
        owned = {value for one in types for value in one.values}
        loose = tuple(name for name in self.constants if name not in owned)
        lines = sorted(self.lines, key=lambda line: "=" not in line)[:_SHOWN]
        return Usage(functions, types, loose, tuple(lines))

    def _member_enums(self) -> tuple[UsedType, ...]:
        """An enum for each member that is only compared with constants of nobody else; the member gets its type. Tests never
        name such a type, and the order of its values does not show."""
        found: list[UsedType] = []
        for (owner, field), values in self.compared.items():
            others = {name for member, named in self.compared.items() if member != (owner, field) for name in named}
            own = [name for name in values if name in self.constants and name not in others]
            if len(values) < 2 or own != list(values) or any(map(self.constant_types.get, values)):
                continue
            if self.members[owner].get(field, "") not in ("", "int", "unsigned int"):
                continue
            short = f"{field}_t" if owner.endswith("_t") else field
            taken = self.declared | self.used_types.keys() | {one.name for one in found}
            name = f"{owner.removesuffix('_t')}_{short}" if short in taken or short == field else short
            self.members[owner][field] = name
            found.append(UsedType(name, values=tuple(values), ordered=True))
        return tuple(found)

    def _function(self, name: str) -> UsedFunction:
        calls = self.calls[name]
        width = max(len(call) for call in calls)
        names = self._names(name, width)
        parameters = tuple(_best([call[place] for call in calls if len(call) > place]) for place in range(width))
        parameters, names = with_grids(calls, self.numbers[name], parameters, names)
        for place, kind in enumerate(parameters):
            if not names[place] and (told_by := self._name_by_type(kind, name, names)):
                names = (*names[:place], told_by, *names[place + 1 :])
        told = self.results.get(name, Counter())
        result = _best([kind for kind, count in told.items() if kind != "void" for _ in range(count)])
        result = result or ("void" if told else "")
        if result.startswith("const ") and (not result.endswith("*") or "char *" in told):
            result = result.removeprefix("const ")
        sure = bool(result) and all(parameters) and len({len(call) for call in calls}) == 1
        return UsedFunction(name, result or "int", parameters, sure, names)

    def _names(self, function: str, width: int) -> tuple[str, ...]:
        """A name for each parameter: that of the variable most often handed over, each once."""
        found: list[str] = []
        for place in range(width):
            told = Counter(given[place] for given in self.given[function] if len(given) > place and given[place])
            best = next((name for name, _ in told.most_common() if name not in (*found, function)), "")
            found.append(best)
        return tuple(found)

    def _name_by_type(self, kind: str, function: str, taken: Collection[str]) -> str:
        """A name for a parameter to which no variable is handed over: the last word of its type, ``band`` for
        ``resistor_band_t``, or what a plain type is for; "" where that says nothing, or is taken."""
        short = _bare(kind).removesuffix("_t").rpartition("_")[2]
        if _bare(kind) in self.used_types:
            name = f"{short}s" if kind.startswith("const ") and kind.endswith("*") else short
        else:
            name = _NAMES.get(kind, "number" if _PLAIN.match(kind) else "")
        return "" if name in (*taken, function, _bare(kind)) or name in self.declared else name

    def _used_type(self, name: str) -> UsedType:
        values = tuple(one for one in self.constants if _bare(self.constant_types.get(one, "")) == name)
        known, order = self.members.get(name, {}), self.lists.get(name, ())
        members: list[str] = []
        arrays = {field for owner, field in self.subscripted if owner == name}
        if known and all(known.values()) and not arrays and not (order and len(order) != len(known)):
            members = [declare(kind, field) for field, kind in known.items()]
        untold = known and not members and not arrays and not any(known.values())
        if untold and len(order) == len(known) and order[0] and len(set(order)) == 1:
            members = [declare(order[0], field) for field in known]
        if not known and order and all(order):  # only ever initialised by position: any names will do
            names = _BY_POSITION if len(order) <= len(_BY_POSITION) else [f"m{number}" for number in range(len(order))]
            members = [declare(kind, field) for kind, field in zip(order, names, strict=False)]
        pointer = bool(self.behind[name]) and not self.plain[name]
        kept = () if members or known else values
        fields = tuple(declare(kind, field) if kind else field for field, kind in known.items())
        return UsedType(name, tuple(members), kept, pointer and not known, fields)


def _variables(nodes: Iterator[tree_sitter.Node] | list[tree_sitter.Node]) -> Iterator[tuple[str, str]]:
    """(name, type) of every variable and parameter declared among ``nodes``; an array is a pointer."""
    for node in nodes:
        if node.type not in ("declaration", "parameter_declaration"):
            continue
        kind = node.child_by_field_name("type")
        if kind is None:
            continue
        words = [text_of(one) for one in node.children if one.type == "type_qualifier"]
        base = " ".join([*words, text_of(kind)])
        for declarator in node.children_by_field_name("declarator"):
            inner = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
            names = declared_names(node) if inner is None else [first_text(inner, "identifier")]
            stars = text_of(inner).split("=")[0].count("*") if inner is not None else 0
            array = inner is not None and inner.type == "array_declarator"
            if inner is not None and array and (sizes := re.findall(r"\[\s*(\d+)\s*\]", text_of(inner)))[1:]:
                yield first_text(inner, "identifier"), f"{base} {''.join(f'[{size}]' for size in sizes)}"
                continue
            if array and not base.startswith("const ") and not stars:
                base = f"const {base}"
            for name in filter(None, names):
                depth = stars + array
                yield name, f"{base} {'*' * depth}" if depth else base


def _parameters(function: tree_sitter.Node) -> list[tree_sitter.Node]:
    declarator = function.child_by_field_name("declarator")
    lists = [one for one in walk(declarator) if one.type == "parameter_list"] if declarator is not None else []
    return lists[0].named_children if lists else []


def _name_in(node: tree_sitter.Node) -> str:
    declarator = node.child_by_field_name("declarator")
    return first_text(declarator, "identifier")


def _type_of(definition: str) -> str:
    """The name that a type's definition gives it: its typedef, else its tag."""
    alias = re.search(r"\}\s*(\w+)\s*;\s*$", definition)
    tag = re.match(r"\s*(?:typedef\s+)?((?:struct|union|enum)\s+\w+)", definition)
    return alias[1] if alias else tag[1] if tag else ""


def _variable(node: tree_sitter.Node) -> str:
    """The plain name of a local variable that is handed over as it is, or by its address."""
    text = text_of(node).lstrip("&")
    return text if text.isidentifier() and not _CONSTANT.match(text) else ""


def _points(declarator: tree_sitter.Node | None) -> bool:
    return declarator is not None and any("pointer" in one.type for one in walk(declarator))


def _bare(kind: str) -> str:
    """The type without qualifiers, stars and brackets."""
    return re.sub(r"\[[^\]]*\]|\*|\b(?:const|static|volatile|register)\b", " ", kind).strip()


def _pointer(kind: str) -> str:
    return f"{kind}*" if kind.endswith("*") else f"{kind} *"


def _number(text: str) -> str:
    low = text.lower()
    if low.startswith("0x"):
        return "int"
    if low.endswith("f") and ("." in low or "e" in low):
        return "float"
    if "." in low or "e" in low:
        return "double"
    ends = low.lstrip("0123456789")
    return {"u": "unsigned int", "l": "long", "ul": "unsigned long", "ull": "uint64_t", "ll": "int64_t"}.get(ends, "int")


def _best(kinds: list[str]) -> str:
    """The type that most uses tell; a named or wider one before a plain number's."""
    told = Counter(kind for kind in kinds if kind and kind != "void *")
    if not told:
        return "void *" if "void *" in kinds else ""
    strong = [kind for kind in told if kind not in ("int", "bool", "const char *")] or list(told)
    return max(strong, key=lambda kind: (told[kind], not _PLAIN.match(kind)))
