"""C: its preprocessor, its declarations and symbols, and how it is written. Index, coding and compiling stand on it.

``language.py`` answers what the engine asks of a language (:class:`agent.language.base.Language`). Another language is a
package like this one with a class that answers the same, and one line in ``agent/languages.py``; what a language cannot
tell without a compiler (as C: syntax and undefined names) it leaves to it. ``preprocessor`` reads comments, directives,
conditionals, guards and includes; ``declarations`` heads, types and names; ``symbols`` what the index stores; ``writing``
puts functions, types, headers, stubs, comments and tests into files. ``surroundings`` is what a model is shown around a
function, ``spelled_out`` the declarations that prose holds.
"""
