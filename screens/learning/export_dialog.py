"""Writing labels as training files, from the application."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from agent.audit.log import LogError, known_log
from agent.audit.reader import LogReader
from agent.labels.export import ExportError, ExportOptions, ExportReport, export, preview
from agent.labels.export_formats import FORMATS, about
from agent.labels.pairs import Choice
from agent.labels.queue import Filter
from screens import STYLES
from screens.text import MUTED, line, one_line, plural, stage_short
from screens.tick import Tick

_TICKS = (
    (("split", "hold a fifth out for tests", True), ("balance", "as many yes as no", False)),
    (("last", "last of contradicting labels", False), ("stages", "a folder a question", False)),
    (("replace", "replace an earlier export", False),),
)


class ExportDialog(ModalScreen["ExportReport | None"]):
    """Format, folder, a few switches. Stage, run and model of the queue's filter are taken over."""

    CSS_PATH = [STYLES / "dialogs.tcss", STYLES / "learning.tcss"]
    BINDINGS = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, repo: Path, wanted: Filter) -> None:
        super().__init__()
        self.repo = repo
        self.choice = Choice(_only(wanted.stage), _only(wanted.run_id), _only(wanted.model))
        self.report: ExportReport | None = None

    def compose(self) -> ComposeResult:
        """Everything on one sheet."""
        with Vertical(classes="dialog", id="export"):
            yield Static("Write labels as training files", markup=False, classes="question")
            yield OptionList(*(Option(line((f"{name:<18}", "bold"), (about(name), MUTED))) for name in FORMATS),
                             id="format", markup=False, compact=True)  # fmt: skip
            yield Static(self._chosen(), markup=False, classes="explanation")
            yield Input(str(Path(".clean_room") / "exports" / "pairs"), id="out", compact=True,
                        placeholder="folder to write, from the repository")  # fmt: skip
            for row in _TICKS:
                with Horizontal(classes="switches"):
                    for name, text, on in row:
                        yield Tick(text, on, id=name)
            yield Static("", id="export-preview", markup=False)
            yield Static("", id="export-said", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Write", id="write", variant="primary", compact=True)
                yield Button("Close", id="close", compact=True)

    def on_mount(self) -> None:
        """The format first."""
        self.query_one("#export").border_subtitle = Content("enter writes · escape closes")
        self.query_one("#export-said").display = False
        formats = self.query_one("#format", OptionList)
        formats.highlighted = 1
        formats.focus()
        self._look()

    def _chosen(self) -> Content:
        asked = tuple(map(stage_short, self.choice.stages))
        names = (("question", asked), ("run", self.choice.runs), ("model", self.choice.models))
        parts = [f"{name} {value[0]}" for name, value in names if value]
        return line("only " + ", ".join(parts) if parts else "every labelled call of this repository")

    @property
    def options(self) -> ExportOptions:
        """What is chosen now."""
        place = self.query_one("#format", OptionList).highlighted or 0
        on = {name: self.query_one(f"#{name}", Tick).value for name in ("split", "balance", "last", "stages")}
        return ExportOptions(
            FORMATS[place], self.choice, "last" if on["last"] else "skip", on["balance"], 0.2 if on["split"] else 0.0,
            per_stage=on["stages"],
        )  # fmt: skip

    @on(OptionList.OptionHighlighted)
    @on(Tick.Changed)
    def _look(self) -> None:
        self.run_worker(self._preview(), group="preview", exclusive=True, exit_on_error=False)

    async def _preview(self) -> None:
        """What would be written with what is chosen now: counts, and the first row."""
        try:
            report = await asyncio.to_thread(self._with_log, lambda reader: preview(reader, Path(), self.options))
        except (ExportError, LogError) as error:
            lines = [line((str(error), MUTED))]
        else:
            lines = preview_lines(report, self.query_one("#export-preview").content_size.width or 60)
        self.query_one("#export-preview", Static).update(Content("\n").join(lines))

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def _entered(self) -> None:
        self._start()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "write":
            self._start()
        else:
            self.action_cancel()

    def _start(self) -> None:
        self.run_worker(self._write(), group="export", exclusive=True, exit_on_error=False)

    async def _write(self) -> None:
        said = self.query_one("#export-said", Static)
        said.display = True
        text = self.query_one("#out", Input).value.strip()
        if not text:
            said.update(Content("Name a folder first."))
            return
        replace = self.query_one("#replace", Tick).value
        try:
            self.report = await asyncio.to_thread(self._export, (self.repo / Path(text).expanduser()), self.options, replace)
        except (ExportError, LogError) as error:
            said.update(Content(str(error).replace("Use --force to replace it.", "Tick replace to replace it.")))
            return
        said.update(Content("\n").join(report_lines(self.report, self.repo)))
        self.call_after_refresh(said.scroll_visible, animate=False)

    def _export(self, out: Path, options: ExportOptions, replace: bool) -> ExportReport:
        def write(reader: LogReader) -> ExportReport:
            out.parent.mkdir(parents=True, exist_ok=True)
            return export(reader, out, options, replace=replace)

        return self._with_log(write)

    def _with_log(self, work: Callable[[LogReader], ExportReport]) -> ExportReport:
        reader = LogReader(known_log(self.repo))
        try:
            return work(reader)
        finally:
            reader.close()

    def action_cancel(self) -> None:
        """Close."""
        self.dismiss(self.report)


def _only(value: str) -> tuple[str, ...]:
    return (value,) if value else ()


def preview_lines(report: ExportReport, width: int) -> list[Content]:
    """Counts of what would be written, and the two ends of a row: its prompt begins it, the answer ends it."""
    counts = ", ".join(f"{name} {count}" for name, count in {**report.files, **report.labels}.items())
    half = max(10, width - 4)
    row = one_line(report.sample)
    shown = [row] if len(row) <= half else [row[: half - 1] + "…", "… " + row[-half + 2 :]]
    return [line(("would write ", MUTED), counts), *(line((f"  {part}", MUTED)) for part in shown)]


def report_lines(report: ExportReport, repo: Path) -> list[Content]:
    """What was written, in words; files of the repository by their place in it."""
    out = report.out.relative_to(repo) if report.out.is_relative_to(repo) else report.out
    lines = [line((f"✓ {out / name}", "bold"), f"  {plural(count, 'row')}") for name, count in report.files.items()]
    counts = ", ".join(f"{count} {name}" for name, count in report.labels.items())
    lines.append(line((f"{counts}; run.toml says how it was made", MUTED)))
    lines += [line((f"{count} left out: {reason}", MUTED)) for reason, count in report.left_out.items()]
    return lines + [line((note, MUTED)) for note in report.notes]
