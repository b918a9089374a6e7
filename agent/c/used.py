"""What a C file uses and nothing declares, as records: functions, types, constants."""

from __future__ import annotations

import re

import msgspec

from agent.c.grids import declare
from agent.c.listed_values import in_listed_order


class UsedFunction(msgspec.Struct, frozen=True):
    """A function that is called and nowhere declared. ``parameters`` are types ("" where the uses tell none; with
    ``@`` where the name is inside), ``names`` those of the variables handed over ("" where there are none)."""

    name: str
    returns: str
    parameters: tuple[str, ...]
    sure: bool
    names: tuple[str, ...] = ()

    @property
    def prototype(self) -> str:
        """The declaration as far as it is known; what is not known is an ``int``."""
        names = (*self.names, *[""] * len(self.parameters))
        words = [declare(kind or "int", name).strip() for kind, name in zip(self.parameters, names, strict=False)]
        between = "" if self.returns.endswith("*") else " "
        return f"{self.returns}{between}{self.name}({', '.join(words) or 'void'});"


class UsedType(msgspec.Struct, frozen=True):
    """A type that is used and nowhere defined: its ``members`` as declarations, in the order of an initialiser where there
    is one, and the ``values`` (enumerators) of one that only takes names. ``pointer``: it is only used behind one.
    ``fields`` are the members as far as they are known. ``ordered``: the values stand in their right order, or their order
    does not matter."""

    name: str
    members: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    pointer: bool = False
    fields: tuple[str, ...] = ()
    ordered: bool = False

    @property
    def described(self) -> str:
        """What is known of it, for a prompt."""
        if self.values:
            return f"{self.name} (an enum of {', '.join(self.values)})"
        return f"{self.name} (a struct with {', '.join(self.fields)})" if self.fields else self.name

    @property
    def definition(self) -> str:
        """The definition that the uses make; "" when they make none."""
        if self.members:
            body = "".join(f"    {one};\n" for one in self.members)
            return f"typedef struct {{\n{body}}} {self.name};"
        if self.values:
            return f"typedef enum {{ {', '.join(self.values)} }} {self.name};"
        return f"typedef struct {self.name} {self.name};" if self.pointer else ""


class Usage(msgspec.Struct, frozen=True):
    """All that is used and not declared. ``constants`` are names in capitals that belong to no type; ``lines`` show how the
    types are used."""

    functions: tuple[UsedFunction, ...] = ()
    types: tuple[UsedType, ...] = ()
    constants: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether the uses alone make the whole interface, so that nobody has to be asked."""
        told = all(one.definition and (one.ordered or not one.values) for one in self.types)
        return bool(self.functions) and told and not self.constants and all(one.sure for one in self.functions)

    @property
    def plain_structs(self) -> tuple[UsedType, ...]:
        """The structs of which every member is known and of a type that is declared."""
        open_types = {one.name for one in self.types}
        known = (one for one in self.types if one.members)
        return tuple(one for one in known if open_types.isdisjoint(re.findall(r"\w+", " ".join(one.members))))

    def listed_by(self, text: str) -> Usage:
        """The same, with the values of each type in the order in which a document lists them."""
        return msgspec.structs.replace(self, types=tuple(_listed(one, text) for one in self.types))


def _listed(used: UsedType, text: str) -> UsedType:
    values = in_listed_order(used.values, text) if used.values else None
    return msgspec.structs.replace(used, values=values, ordered=True) if values else used
