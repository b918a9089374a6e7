"""Functions that POSIX or other libraries have and ISO C does not: under ``-std=c99`` nobody declares them, and models call
them all the same. Each is written here under a name of the project's own."""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

from agent.brackets import to_closing_bracket
from agent.c.writing.extract import Extracted

_CASE = """static int {0}(const char *one, const char *other, size_t most)
{{
    for (size_t i = 0; i < most; i++) {{
        int difference = tolower((unsigned char)one[i]) - tolower((unsigned char)other[i]);
        if (difference != 0 || one[i] == '\\0') {{
            return difference;
        }}
    }}
    return 0;
}}"""
_EACH = """static char *{0}(char *text)
{{
    for (char *at = text; *at != '\\0'; at++) {{
        *at = (char){1}((unsigned char)*at);
    }}
    return text;
}}"""
_COPY = """static char *copy_text_part(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length] != '\\0') {
        length++;
    }
    char *copy = malloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\\0';
    }
    return copy;
}"""


class OwnFunction(msgspec.Struct, frozen=True):
    """What a call is changed to: another ``name``, ``more`` arguments behind those that are there, and the definition."""

    name: str
    text: str
    more: str = ""


_ALL = "(size_t)-1"
"""In place of a length: as far as the text goes."""

OWN: dict[str, OwnFunction] = {
    "strdup": OwnFunction("copy_text_part", _COPY, _ALL),
    "strndup": OwnFunction("copy_text_part", _COPY),
    "strcasecmp": OwnFunction("compare_without_case", _CASE.format("compare_without_case"), _ALL),
    "stricmp": OwnFunction("compare_without_case", _CASE.format("compare_without_case"), _ALL),
    "strncasecmp": OwnFunction("compare_without_case", _CASE.format("compare_without_case")),
    "strlwr": OwnFunction("to_lower_text", _EACH.format("to_lower_text", "tolower")),
    "strupr": OwnFunction("to_upper_text", _EACH.format("to_upper_text", "toupper")),
    "strrev": OwnFunction(
        "reverse_text",
        """static char *reverse_text(char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length / 2; i++) {
        char first = text[i];
        text[i] = text[length - 1 - i];
        text[length - 1 - i] = first;
    }
    return text;
}""",
    ),
    "strnlen": OwnFunction(
        "bounded_length",
        """static size_t bounded_length(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length] != '\\0') {
        length++;
    }
    return length;
}""",
    ),
}
"""By the name that is called."""


def with_own_functions(extracted: Extracted, names: Collection[str], known: Collection[str] = ()) -> Extracted:
    """``extracted`` with the calls of ``names``, as far as they are in :data:`OWN`, changed to functions that come along as
    helpers, unless they are ``known`` where it stands."""
    helpers, body = list(extracted.helpers), extracted.function_text
    for name in names:
        own = OWN.get(name)
        if own is None:
            continue
        body = _calling(body, name, own)
        helpers = [_calling(one, name, own) for one in helpers]
        if own.name not in known and own.text not in helpers:
            helpers.insert(0, own.text)
    return msgspec.structs.replace(extracted, function_text=body, helpers=tuple(helpers))


def _calling(text: str, name: str, own: OwnFunction) -> str:
    """``text`` with the calls of ``name`` changed."""
    call, at = re.compile(rf"(?<![\w.>]){name}\s*(?=\()"), 0
    while (found := call.search(text, at)) is not None:
        arguments = to_closing_bracket(text, found.end())
        if not arguments:
            return text
        more = f", {own.more})" if own.more else ")"
        text = f"{text[: found.start()]}{own.name}{arguments[:-1]}{more}{text[found.end() + len(arguments) :]}"
        at = found.start() + len(own.name)
    return text
