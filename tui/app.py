"""The application: it owns the run's worker, the theme, the keys, the palette and leaving."""

from __future__ import annotations

import asyncio
import gc
import os
from pathlib import Path
from typing import Any

import platformdirs
from textual import on
from textual.app import App, SystemCommand
from textual.events import Event, Key, Paste
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from agent.config.schema import Config
from agent.events import RunFinished
from agent.gate import Gate
from screens import STYLES
from screens.actions import BY_ID, bindings, key_text
from screens.dialogs import Confirm
from screens.help import HelpScreen
from screens.home.screen import HomeScreen
from screens.keymap import read_keymap
from screens.panes.pane_help import pane_help
from screens.pasting import pasted
from screens.run.screen import Chosen, RunScreen
from screens.run.session import RunSession
from screens.runner import RunHandle, RunRequested, Services
from screens.table import has_screen, make_screen
from screens.text import clean
from screens.workers import start as run_work
from tui.clipboard import copy_text
from tui.ending import HANGUP, end_run, forget_signals, hear_signals, let_go_of_terminal
from tui.palette import ActionCommands
from tui.presence import Presence
from tui.theme import CLEAN_ROOM, CLEAN_ROOM_LIGHT, grounds

_RUN_GROUP = "run"
_COLLECTED_AT = (5_000, 20, 20)
"""Objects made before the youngest, the middle and all generations are looked through for garbage. With Python's own
numbers that took a third of the processor's time of a screen, and now and then a tenth of a second between key and paint."""
_MOST_TOASTS = 3
"""Toasts at a time; an older one gives way. Escape closes them all."""


class CraApp(App[int]):
    """One window onto one run at a time. ``services`` is everything it can do."""

    TITLE = "Clean Room"
    CSS_PATH = STYLES / "app.tcss"
    BINDINGS = bindings("app")
    COMMANDS = App.COMMANDS | {ActionCommands}
    ACTION_GROUP = "app"

    def __init__(
        self,
        services: Services,
        *,
        config: Config | None = None,
        repo: Path | None = None,
        task: str = "",
        start: bool = False,
    ) -> None:
        super().__init__()
        gc.set_threshold(*_COLLECTED_AT)
        self.services = services
        self.config = config or Config()
        self.first = (task, repo, start)
        self.session: RunSession | None = None
        self.home: HomeScreen | None = None
        self._work: asyncio.Task[Any] | None = None
        self.why_ended = ""
        self.presence = Presence(self._to_terminal, self.bell)
        self._early: list[str] | None = []
        """Characters typed before the first screen could take them."""
        self.register_theme(CLEAN_ROOM)
        self.register_theme(CLEAN_ROOM_LIGHT)
        self._choose_theme()
        self.own_keys, self.key_faults = read_keymap(self.config.ui.keys)
        self.set_keymap(self.own_keys)

    def get_css_variables(self) -> dict[str, str]:
        """A theme's variables, with those that the panes use besides."""
        variables = super().get_css_variables()
        self.theme_variables = {**variables, **grounds(variables, self.native_ansi_color)}
        return self.theme_variables

    def _choose_theme(self) -> None:
        wanted = self.config.ui.theme or ("" if os.environ.get("TEXTUAL_THEME") else CLEAN_ROOM.name)
        if wanted in self.available_themes:
            self.theme = wanted

    def on_mount(self) -> None:
        """Home first; a task given on the command line starts at once."""
        hear_signals(self._told_to_end)
        self.presence.begin()
        task, repo, start = self.first
        wanted = self.config.ui.theme
        if wanted and wanted not in self.available_themes:
            names = ", ".join(sorted(self.available_themes))
            self.notify(f"There is no theme {wanted!r} (ui.theme). Known: {names}.", severity="warning", timeout=10)
        told = os.environ.get("TEXTUAL_THEME", "")
        if told and not wanted and told not in self.available_themes:
            self.notify(f"There is no theme {told!r} (TEXTUAL_THEME), so {self.theme} is used. ctrl+p, Theme lists them.",
                        severity="warning", timeout=10)  # fmt: skip
        for fault in self.key_faults:
            self.notify(fault, severity="warning", timeout=15)
        self.home = HomeScreen(self.services, task=task, repo=repo)
        self.push_screen(self.home)
        self.call_after_refresh(self._take_early_keys)
        if start and task and repo is not None:
            self.start_task(task, repo)

    def notify(self, message: str, *, markup: bool = False, **rest: Any) -> None:
        """As in Textual, but the text is literal unless asked otherwise: it often quotes code."""
        for old in list(self._notifications)[: 1 - _MOST_TOASTS]:
            self._unnotify(old, refresh=False)
        super().notify(message if markup else clean(message), markup=markup, **rest)

    def _to_terminal(self, text: str) -> None:
        """Write a control sequence, where there is a terminal of our own."""
        if self._driver is not None and not self.is_headless and not self.is_web:
            self._driver.write(text)

    def _take_early_keys(self) -> None:
        """What was typed before the first screen appeared goes to the task, as if it had been typed now."""
        typed, self._early = "".join(self._early or []), None
        if typed and self.home is not None:
            self.home.take_typed(clean(typed))

    def on_app_focus(self) -> None:
        """The window has the focus."""
        self.presence.looked_at = True

    def on_app_blur(self) -> None:
        """It is not."""
        self.presence.looked_at = False

    async def on_event(self, event: Event) -> None:
        """As in Textual, but what is pasted is cleaned before any box gets it, and no key is lost at the start."""
        if isinstance(event, Key) and self._early is not None and not event.is_forwarded:
            if self.home is not None and self.home.focused is not None:
                self._take_early_keys()
            elif event.is_printable and event.character:
                self._early.append(event.character)
                return
        if isinstance(event, Paste) and not event.is_forwarded:
            event.text, said = pasted(event.text, isinstance(self.focused, Input))
            if said:
                self.notify(said, severity="warning", timeout=8)
        if isinstance(event, Key) and event.key == "escape" and not event.is_forwarded:
            self.clear_notifications()
        await super().on_event(event)

    # -- the run

    def start_task(self, task: str, repo: Path, resume: str = "") -> None:
        """Start a run and show it; with ``resume`` (its id) an earlier one goes on."""
        if self.session is not None and self.session.live:
            self.notify("A run is going on. F3 goes back to it; stop it there before starting another.", severity="warning")
            return
        run_work(self, self._launch, task, repo, resume, group="launch")

    async def _launch(self, task: str, repo: Path, resume: str = "") -> None:
        if any(getattr(screen, "evaluating", False) for screen in self.screen_stack):
            self.notify("A model is being evaluated. Stop that first (x there), or wait for its end.", severity="warning")
            return
        gate = Gate()
        if self.home is not None:
            self.home.show_busy("getting ready…")
        try:
            config = await asyncio.to_thread(self.services.load_config, repo)
            if resume and self.session is not None and self.session.state.run_id == resume:
                await self.session.close()  # its lease goes to the run that goes on
            more = {"resume": resume} if resume else {}
            handle = await self.services.start_run(task, repo, config, gate=gate, **more)
        except Exception as error:
            if question := getattr(error, "question", ""):  # a repository that was not trusted yet
                await self._ask_trust(question, task, repo, resume)
                return
            text = f"{error} {getattr(error, 'hint', '')}".strip()
            self.notify(text, title="The run cannot start", severity="error", timeout=20)
            return
        finally:
            if self.home is not None:
                self.home.show_busy("")
        session = RunSession(
            task=task, repo=repo, gate=gate, handle=handle, clock=self.services.clock, schedule=self.set_timer,
            grace=config.ui.grace_seconds,
        )  # fmt: skip
        handle.listen(session.receive)
        handle.watch(session.progressed)
        session.on_flush.append(lambda events: self.presence.told(session, events))
        if self.session is not None:
            await self.session.close()
        self.session = session
        self.run_worker(self._carry_out(handle), name="run", group=_RUN_GROUP, exit_on_error=False)
        self.show_session(session)

    async def _ask_trust(self, question: str, task: str, repo: Path, resume: str) -> None:
        """Ask whether commands of the repository may run; on a yes the run starts."""
        from agent.workspace.trust import trust

        if await self.push_screen_wait(Confirm(f"Trust {repo}?", question, "Trust it and run", "Not now")):
            await asyncio.to_thread(trust, repo)
            await self._launch(task, repo, resume)

    async def _carry_out(self, handle: RunHandle) -> RunFinished:
        """The run as a task of its own: when the application is taken down, its workers are broken off at once, but the run
        has to end in order."""
        self._work = asyncio.create_task(handle.execute())
        return await asyncio.shield(self._work)

    @on(Chosen)
    def _chosen(self, event: Chosen) -> None:
        run_work(self, self._decide, event.session, event.choice, group="decide")

    async def _decide(self, session: RunSession, choice: str) -> None:
        done, text = await session.choose(choice)
        self.notify(text, severity="information" if done else "error", timeout=4 if done else 20)
        session.flush()
        if done:
            await session.close()
        if isinstance(self.screen, RunScreen):
            self.screen.refresh_state([])

    def show_session(self, session: RunSession) -> None:
        """Show a run, live or replayed."""
        if self.home is not None and session.handle is not None:
            self.home.session = session
            if self.home.told not in session.on_flush:
                session.on_flush.append(self.home.told)
        self.push_screen(RunScreen(session, self.services))

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group != _RUN_GROUP or self.session is None:
            return
        if event.state == WorkerState.ERROR:
            self.session.broken(event.worker.error or RuntimeError("unknown reason"))
        elif event.state == WorkerState.CANCELLED:
            self.session.broken(RuntimeError("it was cancelled"))
        elif event.state == WorkerState.SUCCESS:
            self.session.flush()

    @on(RunRequested)
    def _start(self, event: RunRequested) -> None:
        self.start_task(event.task, event.repo, event.resume)

    @on(HomeScreen.Return)
    def _return(self) -> None:
        if self.session is not None:
            self.show_session(self.session)

    @on(HomeScreen.OpenRun)
    def _open_run(self, event: HomeScreen.OpenRun) -> None:
        if has_screen("history"):
            self.push_screen(make_screen("history", self.services, run=event.run))
            return
        if self.home is not None:
            self.home.query_one("#task").text = event.run.task  # type: ignore[attr-defined]
            self.notify("Its task is in the task box now; starting it again reuses the verdicts.")

    # -- everywhere

    @property
    def action_group(self) -> str:
        """The group of actions of the screen in front."""
        return getattr(self.screen, "ACTION_GROUP", "app")

    def action_help(self) -> None:
        """Every key of this screen."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.action_group, self.own_keys, pane_help(self.screen.focused)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is offered."""
        if action == "open_screen":
            return has_screen(str(parameters[0])) and self.action_group != parameters[0]
        return super().check_action(action, parameters)

    def action_open_screen(self, name: str) -> None:
        """One of the screens that work on the log of the repository in front."""
        repo = getattr(self.screen, "repo", None) or getattr(getattr(self.screen, "session", None), "repo", None)
        if repo is None or str(repo) == ".":
            repo = self.home.repo_path if self.home is not None else Path()
        self.push_screen(make_screen(name, self.services, repo=repo.resolve()))

    def on_config_saved(self, event: Any) -> None:
        """The settings were saved: what concerns the window counts at once, the rest from the next run on."""
        self.config = event.config
        self.own_keys, self.key_faults = read_keymap(self.config.ui.keys)
        self.set_keymap(self.own_keys)
        for fault in self.key_faults:
            self.notify(fault, severity="warning", timeout=15)
        self._choose_theme()
        if self.home is not None and self.home.is_mounted:
            self.home.action_check_model()

    def action_snapshot(self) -> None:
        """Save the screen as an SVG picture, in the person's folder of pictures: never in the repository."""
        try:
            folder = Path(platformdirs.user_pictures_dir()) / "clean-room"
            folder.mkdir(parents=True, exist_ok=True)
            path = self.save_screenshot(path=str(folder))
        except OSError as error:
            self.notify(f"The screenshot could not be saved: {error}", severity="error")
        else:
            self.notify(f"Screenshot saved to {path}")

    def copy_to_clipboard(self, text: str) -> None:
        """To the clipboard, and to a file where the clipboard cannot be relied on; says which."""
        super().copy_to_clipboard(text)
        self.notify(copy_text(text), timeout=4)

    def get_system_commands(self, screen: Screen[Any]) -> Any:
        """The palette's own entries: themes and keys; our actions come from their table."""
        for command in super().get_system_commands(screen):
            if command.title in ("Theme", "Maximize", "Minimize"):
                yield SystemCommand(command.title, command.help, command.callback)

    def action_help_quit(self) -> None:
        """Ctrl-C copies in a text and does nothing else; say which key leaves."""
        key = key_text(BY_ID["app.quit"], self.own_keys)
        self.notify(f"Ctrl+C does not end Clean Room. Press {key.replace('^', 'ctrl+')} to leave.", timeout=4)

    async def action_quit(self) -> None:
        """Leave; while a run goes on, ask."""
        if self.session is None or not self.session.live:
            if self.session is not None:
                await self.session.close()
            self.exit(0)
            return
        if isinstance(self.screen, Confirm):
            return
        text = "A run is going on. Leaving stops it; what is done so far stays on its branch."
        self.push_screen(Confirm("Leave?", text, "Stop and leave", "Stay"), self._leave)

    def _leave(self, yes: bool | None) -> None:
        if yes:
            run_work(self, self._stop_and_exit, group="leave")

    async def _stop_and_exit(self) -> None:
        await end_run(self.session, self._work)
        self.exit(130, return_code=130)

    def _told_to_end(self, why: str) -> None:
        """The terminal was closed, or a signal says so: no question, but a run ends in order."""
        self.why_ended = why
        if why == HANGUP:
            let_go_of_terminal(self._driver)
        self.exit(130, return_code=130)

    async def on_unmount(self) -> None:
        """Whatever ended the application: a run that goes on is stopped, and nothing is left open."""
        self.presence.end()
        await asyncio.sleep(0.05)  # a closed terminal may fail us a moment before its signal comes
        await end_run(self.session, self._work, self.why_ended)
        forget_signals()  # not before: a signal that comes meanwhile must not end the process
