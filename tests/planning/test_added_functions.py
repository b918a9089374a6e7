"""Functions that a task names and nobody has."""

import pytest

from agent.planning.added_functions import KnownNames, added_steps, find_added, with_added
from agent.planning.schema import Plan, PlanStep

C = KnownNames(
    names={"list_push", "list_pop", "node_t", "list_t", "main"},
    included=("include/list.h",),
    files=("include/list.h", "src/list.c", "src/main.c", "tests/test_list.c", "other.h"),
)
PY = KnownNames(
    names={"slugify", "SlugStore", "claim"},
    classes={"SlugStore": "slug/store.py"},
    included=("slug/text.py",),
    files=("slug/__init__.py", "slug/text.py", "slug/store.py"),
)
PAIR = ("include/list.h", "src/list.c")


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("Add a function list_reverse that reverses a list in place. Declare it in list.h.", ("list_reverse",)),
        ("Add list_reverse(list_t *list) to src/list.c.", ("list_reverse",)),
        ("Please add the function `reverse` to list.h.", ("reverse",)),
        ("Write a function called reverse in list.c", ("reverse",)),
        ("We need a list_reverse function in list.h.", ("list_reverse",)),
        ("Add functions list_first, list_last and list_at(list_t *, int) to list.h", ("list_first", "list_last", "list_at")),
        ("Implement `size_t list_len(const list_t *list)` in list.c: the number of nodes.", ("list_len",)),
        ("Provide bool list_equal(const list_t *a, const list_t *b) in list.h", ("list_equal",)),
    ],
)
def test_c_functions_go_to_the_header_and_its_source(task: str, names: tuple[str, ...]) -> None:
    found = find_added(task, C)
    assert found is not None and found.names == names and found.files == PAIR and found.alone
    [step] = added_steps(task, found)
    assert (step.kind, step.target_files, step.target_symbols) == ("scaffold", PAIR, names)


@pytest.mark.parametrize(
    ("task", "names", "path"),
    [
        ("Add a function truncate_words(text, n) to slug/text.py.", ("truncate_words",), "slug/text.py"),
        ("Add a method `release` to SlugStore that frees a slug.", ("SlugStore.release",), "slug/store.py"),
        ("Add SlugStore.release(slug) which frees a slug.", ("SlugStore.release",), "slug/store.py"),
        ("Add a function word_count.", ("word_count",), "slug/text.py"),
    ],
)
def test_python_functions_go_to_the_module_or_class(task: str, names: tuple[str, ...], path: str) -> None:
    found = find_added(task, PY)
    assert found is not None and (found.names, found.files) == (names, (path,))
    assert added_steps(task, found)[0].kind == "implement"


@pytest.mark.parametrize(
    "task",
    [
        "Fix the bug in list_reverse of list.h.",
        "Rename list_push to list_append in list.h.",
        "Add a function that reverses a list in place to list.h.",
        "Add the function list_pop to list.h.",
        "Add support for empty lists to list.h.",
        "Add an option --reverse to main.c.",
        "Add a new file queue.h with a function queue_push.",
        "Document the functions of list.h.",
        "Make list_push return the new count.",
    ],
)
def test_other_tasks_are_not_for_it(task: str) -> None:
    assert find_added(task, C) is None


def test_without_one_clear_place_a_model_is_asked() -> None:
    several = KnownNames(C.names, {}, ("include/list.h", "other.h"), C.files)
    assert find_added("Add a function list_reverse.", several) is None
    assert find_added("Add a function list_reverse.", C) is not None


def test_more_work_is_planned_by_a_model_behind_it() -> None:
    task = "Add a function list_reverse to list.h and use it in list_print."
    found = find_added(task, C)
    assert found is not None and not found.alone
    assert [target.key for target in found.targets] == ["include/list.h:list_reverse"]
    steps = (
        PlanStep("s1", "Write list_reverse", ("include/list.h",), ("list_reverse",)),
        PlanStep("s2", "Print it reversed", ("src/list.c",), ("list_print", "list_reverse"), ("s1",)),
    )
    plan = with_added(Plan(steps, "monolithic"), task, found)
    assert [(step.id, step.kind, step.target_symbols, step.depends_on) for step in plan.steps] == [
        ("a1", "scaffold", ("list_reverse",), ()),
        ("s2", "implement", ("list_print",), ("a1",)),
    ]
