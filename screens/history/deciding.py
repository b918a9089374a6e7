"""What a person does about a run of the list that has ended: apply, keep or discard its change, or delete it all."""

from __future__ import annotations

from agent.audit.history import RunSummary, delete_run
from agent.audit.log import LogError
from agent.flow.change import Choice, decide
from agent.workspace.git import WorkspaceError
from screens.dialogs import Confirm
from screens.history.run_facts import change_counts
from screens.learning.log_screen import ListScreen
from screens.run.session import RunSession
from screens.text import one_line, plural


class Deciding(ListScreen):
    """The half of the history that changes something. Everything asks first, but keeping, which loses nothing."""

    marked = ""

    @property
    def run(self) -> RunSummary | None:
        """The selected run."""
        raise NotImplementedError

    def can_decide(self) -> bool:
        """Whether the selected run's change waits for a decision."""
        run = self.run
        return run is not None and run.undecided and not run.busy

    def action_decide(self, choice: Choice) -> None:
        """Apply, keep or discard the selected run's change."""
        run = self.run
        if run is None or not self.can_decide():
            return
        counts, branch = change_counts(run), one_line(run.branch) or "the run's copy"
        if choice == "keep":
            self._decide(run, choice)
            return
        if choice == "apply":
            title = f"Apply the change of run {run.run_id}?"
            text = f"{counts} go into {self.repo.resolve()}: all of it, or nothing if it no longer fits."
            words = ("Apply", "Not now")
        else:
            title = f"Discard the change of run {run.run_id}?"
            text = f"{counts} are lost: {branch} is deleted. The run stays in the list; your own files stay as they are."
            words = ("Discard", "Not now")
        self.app.push_screen(Confirm(title, text, *words), lambda yes: self._decide(run, choice) if yes else None)

    def _decide(self, run: RunSummary, choice: Choice) -> None:
        self.run_worker(self._decided(run, choice), group="decide", exclusive=True, exit_on_error=False)

    async def _decided(self, run: RunSummary, choice: Choice) -> None:
        session = self._own(run)
        try:
            if session is not None and session.deciding:
                done, text = await session.choose(choice)
                session.flush()
                if done:
                    await session.close()
            else:
                done, text = await decide(self.repo.resolve(), run.run_id, choice)
        except (LogError, WorkspaceError) as error:
            done, text = False, str(error)
        await self.load(run.run_id)
        self.app.notify(text, severity="information" if done else "error", markup=False, timeout=4 if done else 20)

    def _own(self, run: RunSummary) -> RunSession | None:
        """This window's own run, if it is the one."""
        session: RunSession | None = getattr(self.app, "session", None)
        return session if session is not None and session.state.run_id == run.run_id else None

    # -- deleting

    def action_delete(self) -> None:
        """Delete the selected run, after asking."""
        run = self.run
        if run is None:
            return
        session = self._own(run)
        if run.busy or (session is not None and session.live):
            self.app.notify("That run is still going, here or in another window. Stop it first.", severity="warning",
                            markup=False)  # fmt: skip
            return
        title = f"Delete run {run.run_id} and its change?" if run.undecided else f"Delete run {run.run_id}?"
        self.app.push_screen(
            Confirm(title, _what_goes(run), "Delete", "Keep"), lambda yes: self._delete(run) if yes else None
        )

    def _delete(self, run: RunSummary) -> None:
        self.run_worker(self._deleted(run), group="delete", exit_on_error=False)

    async def _deleted(self, run: RunSummary) -> None:
        session = self._own(run)
        try:
            text = await delete_run(self.repo, run.run_id)
        except (LogError, WorkspaceError) as error:
            self.app.notify(str(error), severity="error", markup=False, timeout=20)
            return
        if session is not None:
            await session.close()  # there is nothing left to decide
        if self.marked == run.run_id:
            self.marked = ""
        await self.load()
        self.say(text)


def _what_goes(run: RunSummary) -> str:
    parts = []
    if run.undecided:
        parts.append(f"You have not decided on its change yet: {change_counts(run)} would be lost. Answer n; then a applies "
                     "it and w keeps it on its branch.")  # fmt: skip
    parts.append(f"Its {plural(run.calls, 'call')} and {plural(run.labels, 'label')} are deleted from the log.")
    if run.place:
        parts.append(f"Its worktree and its branch {run.branch} go too." if run.branch else "Its copy goes too.")
    elif run.branch and run.fate.choice != "discarded":
        parts.append(f"A branch {run.branch} that was kept stays.")
    if run.unfinished:
        parts.append("It has no recorded end, so it cannot be resumed afterwards.")
    parts.append("Your own files stay as they are.")
    return " ".join(parts)
