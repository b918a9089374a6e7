"""Words of C that name nothing of the repository, as bytes."""

from __future__ import annotations

_STANDARD = frozenset(
    b"auto break case char const continue default do double else enum extern float for goto if inline int long register "
    b"restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    b"_Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal32 _Decimal64 _Decimal128 _Generic _Imaginary _Noreturn "
    b"_Static_assert _Thread_local _Pragma".split()
)
_GNU = frozenset(
    b"asm __asm __asm__ __attribute __attribute__ __extension__ __inline __inline__ __const __const__ __volatile "
    b"__volatile__ __restrict __restrict__ __signed __signed__ __typeof __typeof__ __alignof __alignof__ __label__ "
    b"__auto_type __thread __complex__ __real__ __imag__ __declspec __cdecl __stdcall __fastcall".split()
)
_CALLED = frozenset(b"alignas alignof static_assert typeof typeof_unqual".split())
_LATER = frozenset(b"bool constexpr false nullptr thread_local true".split())
_PREPROCESSOR = frozenset(
    b"defined __VA_ARGS__ __VA_OPT__ __has_include __has_include_next __has_embed __has_attribute __has_c_attribute "
    b"__has_builtin __has_feature __has_extension".split()
)

NEVER_DECLARED = _STANDARD | _CALLED | _GNU | _PREPROCESSOR
"""No declaration can name these: whatever looks like one was misread (C17 and C23, 6.4.1; the GNU spellings)."""

NEVER_USED = NEVER_DECLARED | _LATER | frozenset((b"NULL", b"size_t", b"ssize_t"))
"""No use or call of these leads anywhere, although older code may declare a ``bool`` or a ``nullptr`` itself."""

NO_CODE = frozenset((b"include", b"include_next", b"import", b"embed", b"error", b"warning", b"line", b"pragma", b"ident"))
"""Directives whose words are paths or prose."""
