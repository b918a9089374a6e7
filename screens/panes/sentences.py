"""What happened, event by event, in sentences for a person. Notices are sentences already."""

from __future__ import annotations

from agent import events as ev
from agent.counts import counted
from agent.repair.edit_words import edit_words
from agent.stages import stage_of
from agent.values import CheckResult
from screens.text import duration, found_by, milliseconds, one_line, planned_by, plural, stage_short, stage_title

_STATUS = {"loading": "is being loaded", "ready": "is ready", "unreachable": "cannot be reached"}
_ANSWERS = {
    "accept": "You accepted the verdict", "overrule": "You overruled the verdict",
    "skip_stage": "You accepted the rest of the stage", "take": "You took another edit",
    "continue": "You let the run go on", "stop": "You stopped the run",
}  # fmt: skip
_CATEGORIES = {
    "missing_include": "an include is missing", "signature_mismatch": "a signature differs",
    "missing_definition": "a definition is missing", "logic_error": "the code itself is wrong",
}  # fmt: skip
_ENDED = {"complete": "is complete", "partial": "did a part", "failed": "failed", "stopped": "was stopped"}
_MOST = 4
_TOLD_AT_NONE = ("yes", "no", "passed", "failed", "passing", "exit code")


def sentence(event: ev.Event) -> str:
    """One event in words, on one line; "" where no words are known for it."""
    for tell in (_of_run, _of_retrieval, _of_plan, _of_adjustment, _of_repair, _of_code, _of_end):
        said = tell(event)
        if said:
            return one_line(said)
    return ""


def _listed(names: tuple[str, ...], none: str = "nothing") -> str:
    if not names:
        return none
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _because(text: str) -> str:
    return f": {text.rstrip('.')}" if text else ""


def _took(ms: float) -> str:
    return f" in {milliseconds(ms)}{'' if ms >= 10_000 else ' ms'}" if ms >= 1 else ""


def _counts(counts: dict[str, int]) -> str:
    """What was counted; of what there is none of nothing is said, but of what is a verdict or a result."""
    told = {name: value for name, value in counts.items() if value or name in _TOLD_AT_NONE}
    return ", ".join(counted(value, name) for name, value in told.items())


def _of_run(event: ev.Event) -> str:
    match event:
        case ev.RunStarted():
            how = "The run goes on where it was" if event.resumed_from else "The run begins"
            where = f" on branch {event.branch}" if event.branch else ""
            return f"{how}{where}{f', with {event.model}' if event.model else ''}."
        case ev.StageStarted():
            if stage_of(event.stage).binary:
                return f"Asking {stage_short(event.stage)} of {event.total or 'nothing'}."
            name = _stage(event.stage, event.title)
            return f"{name} begins{f': {event.total} to look at' if event.total else ''}."
        case ev.StageFinished():
            counts = _counts(event.counts)
            note = f" {event.note}" if event.note.endswith(".") else ""  # a word alone is another event's
            asked = stage_of(event.stage).binary
            done = f"Asked {stage_short(event.stage)}" if asked else f"{_stage(event.stage)} done"
            return f"{done}{_took(event.ms)}{f': {counts}' if counts else ''}.{note}"
        case ev.Notice():
            return f"{f'{_stage(event.stage)}: ' if event.stage else ''}{event.text}"
        case ev.ModelStatus():
            if event.status == "waiting":
                return f"{event.text[:1].upper()}{event.text[1:].rstrip('.')}."
            name = event.text or event.model or "The model"
            return event.text if event.status == "unreachable" and event.text else f"{name} {_STATUS[event.status]}."
    return ""


def _stage(stage: str, title: str = "") -> str:
    known = stage_title(stage).partition(":")[0]
    return (title.capitalize() if title and known == stage_title(stage) else known) or "A stage"


def _of_retrieval(event: ev.Event) -> str:
    match event:
        case ev.IndexRefreshed():
            new = f", {event.changed} of them new or changed" if event.changed else ""
            skipped = f"; {plural(event.skipped, 'file')} passed over" if event.skipped else ""
            files, symbols = plural(event.files, "file"), plural(event.symbols, "symbol")
            return f"Read {files}{new}, with {symbols}{_took(event.ms)}{skipped}."
        case ev.TaskAnalysed():
            named = _listed((*event.mentioned_files, *event.mentioned_symbols), "nothing of the repository")
            kind = f" ({event.kind})" if event.kind else ""
            return f"The task as understood{kind}{_because(event.intent)}. It names {named}."
        case ev.StagesRouted():
            return f"Stages chosen besides those that always run: {_listed(event.selected, 'none')}."
        case ev.FileScoped():
            by = "" if event.judged else ", without asking"
            return f"{event.path} is {'in scope' if event.included else 'left out'}{_because(event.reason)}{by}."
        case ev.FilesGrouped():
            return f"{plural(len(event.groups), 'group')} of files that are alike."
        case ev.CascadePass():
            question = stage_short(f"precision_pass{event.pass_no}")
            return f"Of {plural(event.asked, 'symbol')} {event.yes} yes and {event.no} no to {question}"
        case ev.SymbolClassified():
            place = f" of {event.path}" if event.path else ""
            level = event.detail_level.replace("_", " ")
            said = "left out" if level == "excluded" else f"shown as {level}"
            return f"{event.symbol}{place} is {said}{_because(event.reason)}."
        case ev.ContextAssembled():
            gone = f"; left out because they do not fit: {_listed(event.dropped)}" if event.dropped else ""
            size = f"{event.tokens:,} of {event.budget:,} tokens"
            return f"The context takes {size}, from {plural(len(event.files), 'file')}{gone}."
    return ""


def _of_plan(event: ev.Event) -> str:
    match event:
        case ev.PlanMade():
            how = f", made {planned_by(event.how)}" if event.how else ""
            return f"The plan has {plural(len(event.steps), 'step')}{how}."
        case ev.StepStarted():
            return f"Step {event.step_id} begins{_because(event.description)}."
        case ev.StepFinished():
            commit = f" It is commit {event.commit[:8]}." if event.commit else ""
            back = " Its changes were taken back." if event.rolled_back else ""
            return f"Step {event.step_id} {'is done' if event.ok else 'failed'}{_because(event.detail)}.{commit}{back}"
        case ev.FailureSignals():
            first = event.signals[0].message if event.signals else ""
            where = f" of step {event.step_id}" if event.step_id else ""
            return f"{plural(len(event.signals), 'failure')}{where} to go by{_because(first)}."
    return ""


def _of_adjustment(event: ev.Event) -> str:
    match event:
        case ev.AdjustmentStarted():
            facts = f"{plural(len(event.failures), 'failure')}, {plural(len(event.remaining), 'step')} left"
            calls = f", at most {plural(event.expected_calls, 'question')}" if event.expected_calls else ""
            return f"The plan is looked at again, round {event.round_no}: {facts}{calls}."
        case ev.ViabilityVerdict():
            return f"Step {event.step_id} can {'still be done' if event.viable else 'no longer be done'}.{_default(event)}"
        case ev.RootCauseVerdict():
            said = "comes from" if event.caused else "does not come from"
            return f"Failure {event.failure + 1} {said} step {event.step_id}.{_default(event)}"
        case ev.NewStepVerdict():
            return f"Failure {event.failure + 1} needs {'a' if event.needed else 'no'} step of its own.{_default(event)}"
        case ev.PlanAdjusted():
            changes = _listed(event.changes, "nothing changes")
            return f"The plan was adjusted: {changes}{f' ({event.rationale})' if event.rationale else ''}."
    return ""


def _default(event: ev.ViabilityVerdict | ev.RootCauseVerdict | ev.NewStepVerdict) -> str:
    return " (No answer could be read, so the default applies.)" if event.defaulted else ""


def _of_candidates(event: ev.FunctionCandidate | ev.CandidateChosen | ev.ContractChecked) -> str:
    match event:
        case ev.FunctionCandidate():
            share = "nothing tells whether it is right" if event.points is None else f"{event.points:.0%} of its checks pass"
            bugs = f", {plural(event.bugs, 'sign')} of a bug" if event.bugs else ""
            return f"Version {event.number} of {event.symbol} compiles: {share}{bugs}{_because(event.failure)}."
        case ev.CandidateChosen():
            why = {"right": "its checks pass", "best": "more of its checks pass than with the others"}.get(event.why, "")
            return f"Version {event.number} of {event.of} of {event.symbol} stays{f': {why}' if why else ''}."
    if event.holds is None:
        return f"No check uses {event.symbol}."
    if event.holds:
        return f"{event.symbol} passes its {plural(event.passing, 'check')}."
    failing = ", ".join(event.failing[:4])
    tried = f" after {plural(event.candidates, 'version')}" if event.candidates else ""
    return f"{event.symbol} fails {failing}{tried}; {plural(event.passing, 'check')} of it pass."


def _of_code(event: ev.Event) -> str:
    match event:
        case ev.FunctionStarted():
            tries = f", try {event.attempt} of {event.max_attempts}" if event.max_attempts > 1 else ""
            return f"Writing {event.symbol} in {event.path}{tries}."
        case ev.FunctionImplemented():
            return f"{event.symbol} compiles after {plural(event.attempts, 'try', 'tries')}."
        case ev.FunctionFailed():
            return f"{event.symbol} was given up after {plural(event.attempts, 'try', 'tries')}{_because(event.reason)}."
        case ev.FunctionCandidate() | ev.CandidateChosen() | ev.ContractChecked():
            return _of_candidates(event)
        case ev.CompileStarted():
            return f"{'Linking' if event.link else 'Compiling'} {event.file}."
        case ev.CompileFinished():
            return _compiled(event)
        case ev.ErrorClassified():
            header = f" ({event.header})" if event.header else ""
            category = _CATEGORIES.get(event.category, event.category)
            return f"What is wrong with {event.symbol or event.file}: {category}{header}; found by {found_by(event.how)}."
        case ev.IncludeAdded():
            text = event.text or f"#include <{event.header}>"
            if event.kept:
                return f"{text} was put into {event.file}, line {event.line}."
            return f"{text} was taken out of {event.file} again."
        case ev.RecoveryDone():
            spent = " It used one of the tries." if event.attempt_consumed else ""
            mended = "is mended" if event.ok else "is not mended"
            return f"{event.symbol or event.file} {mended}{_because(event.action)}.{spent}"
        case ev.EditApplied():
            what = f"{event.symbol} of {event.path}" if event.symbol else event.path
            return f"{what} was changed: +{event.added} −{event.removed} lines."
        case ev.EditRejected():
            return f"An edit of {event.path} was refused{_because(event.reason)}."
    return ""


def _compiled(event: ev.CompileFinished) -> str:
    what = f"{event.symbol} in {event.file}" if event.symbol else event.file
    verb = "links" if event.link else "compiles"
    if event.ok:
        return f"{what} {verb}{_took(event.ms)}."
    errors = [one for one in event.diagnostics if one.severity in ("error", "fatal")] or list(event.diagnostics)
    first = f" ({plural(len(errors), 'message')}): {errors[0].message}" if errors else ""
    return f"{what} does not {verb.rstrip('s')}{first}."


def _of_end(event: ev.Event) -> str:
    match event:
        case ev.ChecksStarted():
            when = ", before the first change" if event.baseline else ""
            return f"Running the checks{when}: {event.command}"
        case ev.ChecksRun():
            return _checks(event)
        case ev.DiffReady():
            if not event.diff.strip():
                return "Nothing was changed."
            return f"The change is ready: {plural(len(event.files), 'file')}, +{event.added} −{event.removed} lines."
        case ev.DiffResolved():
            return event.detail or f"The change was {event.choice}."
        case ev.GateWaiting():
            return _waiting(event)
        case ev.GateResolved():
            item = f" for {event.item}" if event.item else ""
            used = f": {'yes' if event.verdict else 'no'}{item}" if event.kind == "verdict" else ""
            return f"{_ANSWERS.get(event.action, event.action)}{used}."
        case ev.RunFinished():
            cost = f"{plural(event.calls, 'call')} in {duration(event.seconds)}"
            return f"The run {_ENDED[event.status]}{_because(event.reason)}. {cost}."
    return ""


def _of_repair(event: ev.Event) -> str:
    match event:
        case ev.RepairStarted():
            return f"The search for an edit begins: {plural(len(event.failing), 'check')} failing, {event.passing} passing."
        case ev.SuspectsRanked():
            return f"Suspect: {_listed(tuple(one.function for one in event.suspects), 'no function')}."
        case ev.SuspectJudged():
            return f"The failure could {'' if event.suspected else 'not '}come from {event.function}."
        case ev.CandidatesTried():
            return f"{plural(event.tried, 'edit')} tried, {event.passing} passing."
        case ev.CandidatePassed():
            kind, place = edit_words(event.operator), f"{event.function}, line {event.line}"
            return f"Edit {event.number} makes all checks pass: {kind} in {place}."
        case ev.CandidatesCompared():
            return f"{plural(len(event.groups), 'kind')} of edits differ on {plural(event.inputs, 'other input')}."
        case ev.CandidateJudged():
            return f"Edit {event.number} {'fits' if event.fits else 'does not fit'} the task, says the model."
        case ev.RepairChosen():
            return f"Edit {event.number} was {'picked by you' if event.picked else 'chosen'}{_because(event.why)}."
        case ev.RepairFinished():
            return f"The search ended after {plural(event.tried, 'edit')}{_because(event.reason)}."
    return ""


def _waiting(event: ev.GateWaiting) -> str:
    if event.kind == "stage":
        return f"Waiting for you at the end of {_stage(event.stage).lower()}."
    why = ", at a breakpoint" if event.reason == "breakpoint" else ""
    if event.kind == "choice":
        return f"Waiting for you{why}: edit {event.item} would be written."
    return f"Waiting for you{why}: {stage_title(event.stage)} {event.item}: {'yes' if event.verdict else 'no'}?"


def _checks(event: ev.ChecksRun) -> str:
    if event.now is None:
        return f"The checks before the first change: {_result(event.baseline)}."
    better = f" Passing now: {_listed(event.newly_passing)}." if event.newly_passing else ""
    worse = f" Failing that did not before: {_listed(event.newly_failing)}." if event.newly_failing else ""
    return f"The checks now: {_result(event.now)}.{better}{worse}"


def _result(result: CheckResult) -> str:
    if result.timed_out:
        return "they did not end in time"
    if result.passed or result.failed:
        return f"{result.passed or 0} pass, {result.failed or 0} fail"
    return "they pass" if result.ok else f"they fail with exit code {result.exit_code}"
