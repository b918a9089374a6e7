"""What retrieval found, folded into the state."""

from __future__ import annotations

from collections.abc import Callable

from agent import events as ev
from agent.state.shown import Shown


def _indexed(state: Shown, e: ev.IndexRefreshed) -> None:
    state.index = e


def _analysed(state: Shown, e: ev.TaskAnalysed) -> None:
    state.analysis = e


def _file_scoped(state: Shown, e: ev.FileScoped) -> None:
    state.files[e.path] = e


def _grouped(state: Shown, e: ev.FilesGrouped) -> None:
    state.groups = e.groups


def _cascade_pass(state: Shown, e: ev.CascadePass) -> None:
    state.passes[e.pass_no] = e


def _classified_symbol(state: Shown, e: ev.SymbolClassified) -> None:
    symbol = state.symbol(f"{e.path}:{e.symbol}" if e.path else e.symbol)
    symbol.path, symbol.kind, symbol.detail_level, symbol.reason = e.path, e.kind, e.detail_level, e.reason


def _assembled(state: Shown, e: ev.ContextAssembled) -> None:
    state.context = e


HANDLERS: dict[type, Callable[..., None]] = {
    ev.IndexRefreshed: _indexed,
    ev.TaskAnalysed: _analysed,
    ev.FileScoped: _file_scoped,
    ev.FilesGrouped: _grouped,
    ev.CascadePass: _cascade_pass,
    ev.SymbolClassified: _classified_symbol,
    ev.ContextAssembled: _assembled,
}
