"""The one table of stages: every kind of model call, with what its model, its reply, its label and its screen need.

A stage is a judgment (a yes/no question about one item) or a generation (text). Its name is its identity: in the log, in
``[models.overrides]``, in thresholds, in exports. Everything else that the application knows of a stage is a column here.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["coding", "reasoning"]
Pane = Literal["cascade", "compile", "plan", "adjust", "repair", ""]
Activity = Literal["judging", "planning", "writing"]
Aim = Literal["recall", "balance"]

BINARY_MAX_TOKENS = 16
"""Reply limit of a yes/no stage, in tokens: the word, and some room for a model that wraps it."""

_ANY_GUIDELINE = """Yes when the answer to the question in the system prompt is yes for this item, judged by what is shown.
No when it is not. Skip what you cannot decide from what is shown.
"""


class Stage(msgspec.Struct, frozen=True):
    """One kind of call.

    Attributes:
        name: its identity, in files and in the log.
        role: whose model answers when no override names another.
        binary: whether the reply is one word, yes or no.
        group: the override group that moves it together with others, or "".
        unit: what one item is, in the plural ("files").
        short: the question in its short form, which screens and the command line use, at most ten characters.
        title: the question, or what is made, in one line.
        guideline: what yes and no mean, for the person who labels.
        pane: the pane that shows its outcome, or "".
        activity: what the status pill says while a call is out.
        aim: what a threshold is fitted to: ``recall`` for a filter, which must not lose what matters, else ``balance``.
    """

    name: str
    role: Role = "reasoning"
    binary: bool = False
    group: str = ""
    unit: str = ""
    short: str = ""
    title: str = ""
    guideline: str = _ANY_GUIDELINE
    pane: Pane = ""
    activity: Activity = "planning"
    aim: Aim = "balance"


def _judgment(
    name: str, short: str, title: str, unit: str, *, pane: Pane, group: str = "", guideline: str = _ANY_GUIDELINE,
    aim: Aim = "balance",
) -> Stage:  # fmt: skip
    return Stage(name, "reasoning", True, group, unit, short, title, guideline, pane, "judging", aim)


def _text(name: str, short: str, title: str, *, unit: str = "", pane: Pane = "plan") -> Stage:
    return Stage(name, "reasoning", False, "", unit, short, title, pane=pane)


def _code(name: str, short: str, title: str, *, unit: str, pane: Pane = "plan") -> Stage:
    return Stage(name, "coding", False, "", unit, short, title, pane=pane, activity="writing")


_TABLE = (
    # What the task needs to know of the repository
    _text("task_analysis", "intent", "Task: what is wanted, in one sentence", unit="tasks", pane="cascade"),
    _judgment(
        "task_kind", "bug?", "Task: does it tell of something that does not work?", "tasks", pane="cascade",
        guideline="""Yes: what the program does today is wrong by the task's own account, and has to be corrected.
No: the task wants something that the program does not offer yet, or another shape of what works.
""",
    ),
    _text("enrichment", "enrich", "Index: purpose and concepts of a file", unit="files", pane="cascade"),
    _text("stage_routing", "routing", "Routing: which optional stages to run", unit="tasks", pane="cascade"),
    _judgment(
        "scope", "file?", "Scope: does the task need this file?", "files", pane="cascade", aim="recall",
        guideline="""Yes: somebody who does the task must read or change this file.
No: the task can be done without ever opening it, even if it shares words with the task.
A test that checks the changed behaviour is a yes; a file that only happens to be near is a no.
""",
    ),
    _judgment(
        "similarity", "similar?", "Similarity: do the two files change alike?", "pairs of files", pane="cascade",
        guideline="""Yes: a change to one of the two files would call for the same kind of change in the other.
No: they share names or a folder, but each can change alone.
""",
    ),
    _judgment(
        "precision_pass1", "relevant?", "Precision, pass 1: is the symbol relevant?", "symbols", pane="cascade",
        group="precision", aim="recall",
        guideline="""Yes: the task changes the symbol, or whoever does it has to know it (types, helpers, callers).
No: nothing about the task depends on it.
""",
    ),
    _judgment(
        "precision_pass2", "direct?", "Precision, pass 2: is it directly involved?", "symbols", pane="cascade",
        group="precision", aim="recall",
        guideline="""Yes: the symbol itself is modified, or the logic of the change runs through it.
No: it is only called, or only needed as a type.
""",
    ),
    _judgment(
        "precision_pass3", "source?", "Precision, pass 3: is its full source needed?", "symbols", pane="cascade",
        group="precision",
        guideline="""Yes: the task cannot be done well without seeing the symbol's body.
No: its signature or type says enough.
""",
    ),
    _text("refilter", "refilter", "Assembly: which files fit the budget", unit="files", pane="cascade"),
    # What to do, in which order
    _text("meta_plan", "plan", "Plan: the parts of the task", unit="tasks"),
    _text("part_plan", "part plan", "Plan: the steps of a part", unit="parts"),
    _text("change_point_enum", "change pts", "Plan: what has to change", unit="tasks"),
    _judgment(
        "part_grouping", "same part?", "Parts: do the two changes belong together?", "pairs of changes", pane="plan",
        guideline="""Yes: the two changes belong into one part: neither makes sense without the other.
No: each can be made and checked alone.
""",
    ),
    _judgment(
        "part_dependency", "part dep?", "Parts: must the other be done first?", "pairs of parts", pane="plan",
        guideline="""Yes: the part can only be done once the other is done.
No: the order does not matter.
""",
    ),
    _text("symbol_targeting", "target?", "Plan: the symbols that a change touches", unit="changes"),
    _text("step_design", "steps", "Plan: the steps of a change", unit="changes"),
    _judgment(
        "step_dependency", "step dep?", "Steps: must the other be done first?", "pairs of steps", pane="plan",
        guideline="""Yes: the step needs something that the other step makes.
No: the order does not matter.
""",
    ),
    _text("interface_enum", "interfaces", "Scaffold: the headers that are needed", unit="tasks"),
    _judgment(
        "shared_helper", "helper?", "Helpers: do the functions need one in common?", "rules", pane="plan",
        guideline="""Yes: at least two of the functions have to compute the value that the rule describes, so that one
helper should hold it.
No: one function alone needs it, or the rule describes no value that is computed.
""",
    ),
    # Code
    _code("scaffold", "scaffold", "Write the scaffold", unit="tasks"),
    _code("header_gen", "header", "Write a header", unit="headers"),
    _code("function_implement", "write", "Write a function", unit="functions"),
    _code("implement", "edit", "Edit a file", unit="files"),
    _code("test_implement", "write test", "Write a test", unit="tests"),
    _code("documentation", "doc", "Write a doc comment", unit="functions"),
    # What the compiler said
    _judgment(
        "error_classify_include", "include?", "Compile error: is an include missing?", "errors", pane="compile",
        group="classify",
        guideline="""Yes: an #include line is missing and would settle the error.
No: the header is there already, or the fault is another one.
""",
    ),
    _judgment(
        "error_classify_signature", "signature?", "Compile error: does a signature differ?", "errors", pane="compile",
        group="classify",
        guideline="""Yes: a function's head differs from its declaration or from how it is called.
No: heads agree; the fault is in a body or somewhere else.
""",
    ),
    _judgment(
        "error_classify_definition", "defined?", "Compile error: is a definition missing?", "errors", pane="compile",
        group="classify",
        guideline="""Yes: something is declared and used, but defined nowhere.
No: it is defined, or it is not even declared.
""",
    ),
    _text("error_which_include", "header?", "Compile error: which header is missing", unit="errors", pane="compile"),
    # Where a fault is, what mends it, and whether that is the right change
    _judgment(
        "suspect", "suspect?", "Repair: could the failure come from this function?", "functions", pane="repair",
        guideline="""Yes: a mistake in this function can make the failing check fail as it does.
No: the function does what its contract says, or has no part in what the check looks at.
""",
    ),
    _code("reported_check", "shown by", "Repair: a check that shows what the task reports", unit="tasks", pane="repair"),
    _judgment(
        "reported_meant", "meant?", "Repair: does the check say what the task reports?", "checks", pane="repair",
        guideline="""Yes: the call is a case of what the task reports, and its result is the right one by task and contract.
No: the call has nothing to do with what is reported, or another result would be right.
""",
    ),
    _code("cloze", "fill", "Repair: fill a blanked line", unit="lines", pane="repair"),
    _code("anew", "anew", "Repair: rewrite a suspect function", unit="functions", pane="repair"),
    _judgment(
        "fitting", "fits?", "Repair: does the edit do what the task says?", "edits", pane="repair",
        guideline="""Yes: the edit mends the mistake, for every input and not only for those that the checks try.
No: it only happens to satisfy the checks, or it breaks something that they do not look at.
""",
    ),
    # What a failure means for the plan
    _text("adjustment", "adjust", "Adjustment: the plan after a failure, in one reply", unit="failures", pane="adjust"),
    _judgment(
        "adjustment_step_viability", "viable?", "Adjustment: can the step still be done?", "steps", pane="adjust",
        group="adjust_binary",
        guideline="""Yes: the step can still be carried out as planned after what failed.
No: what failed takes away what it needs.
""",
    ),
    _judgment(
        "adjustment_root_cause", "cause?", "Adjustment: did the step cause the failure?", "failures and steps",
        pane="adjust", group="adjust_binary",
        guideline="""Yes: this step caused the failure.
No: the failure would have come without it.
""",
    ),
    _judgment(
        "adjustment_new_step", "new step?", "Adjustment: does it take a new step?", "failures", pane="adjust",
        group="adjust_binary",
        guideline="""Yes: the failure needs a step that the plan does not have.
No: a step of the plan, done again, will settle it.
""",
    ),
    _text("adjustment_finalize", "finalize", "Adjustment: the revised steps", unit="failures", pane="adjust"),
)  # fmt: skip

STAGES: dict[str, Stage] = {stage.name: stage for stage in _TABLE}
"""All stages by name, in the order in which a run comes to them."""

GROUPS: tuple[str, ...] = tuple(dict.fromkeys(stage.group for stage in _TABLE if stage.group))
"""The override groups: one line of ``[models.overrides]`` moves all stages of a group."""


def stage_of(name: str) -> Stage:
    """The stage; one that is not in the table (a probe, a test, an older log) is reasoning text under its own name."""
    return STAGES.get(name) or Stage(name, short=name.replace("_", " ")[:10], title=name.replace("_", " ").capitalize())


def stage_named(word: str) -> str:
    """The stage that a word stands for: its own name, or its question as screens show it, with or without the question mark.
    Any other word comes back as it is."""
    said = " ".join(word.lower().split())
    as_shown = {stage.short.rstrip("?"): name for name, stage in STAGES.items()} | {s.short: n for n, s in STAGES.items()}
    return word if word in STAGES or word in GROUPS else as_shown.get(said, word)


def activity_of(name: str, binary: bool) -> Activity:
    """What is going on while a call is out. ``binary`` is the call's own: an unknown stage may ask yes or no."""
    return "judging" if binary else stage_of(name).activity


def binary_stages() -> tuple[str, ...]:
    """The names of the yes/no stages, sorted."""
    return tuple(sorted(name for name, stage in STAGES.items() if stage.binary))
