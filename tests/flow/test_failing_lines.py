"""The lines of a test that lead to its failure."""

from pathlib import Path

from agent.flow.failing_lines import with_lines
from agent.planning.signals import MESSAGE_CAP
from agent.values import FailureSignal

TEST = """#include <assert.h>
int main(void)
{
    assert(buf_init(&b) == 0);
    assert(buf_add_long(&b, LONG_MIN) == 0);
    char want[32];
    snprintf(want, sizeof want, "%ld", LONG_MIN);
    assert(strcmp(b.data, want) == 0);
}
static void other(void)
{
    assert(0);
}
"""
SAID = "test_failure"


def told(root: Path, message: str, *, hidden: tuple[str, ...] = (), path: str = "tests/test_buf.c") -> str:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(TEST)
    [signal] = with_lines([FailureSignal(SAID, message, "error_info")], root, ["buf_init", "buf_add_long"], hidden)
    return signal.message


def test_the_nearest_call_above_is_shown(tmp_path: Path) -> None:
    message = told(tmp_path, "t: tests/test_buf.c:8: main: Assertion `strcmp(b.data, want) == 0' failed.")
    assert message.endswith(TEST.split("== 0);\n", 1)[1].split("\n}\nstatic")[0])
    assert "buf_init" not in message and message.startswith("t: tests/test_buf.c:8:")


def test_a_message_that_names_a_function_stays(tmp_path: Path) -> None:
    message = "t: tests/test_buf.c:4: main: Assertion `buf_init(&b) == 0' failed."
    assert told(tmp_path, message) == message


def test_calls_of_another_function_do_not_count(tmp_path: Path) -> None:
    message = "t: tests/test_buf.c:12: other: Assertion `0' failed."
    assert told(tmp_path, message) == message


def test_what_is_hidden_or_no_test_is_not_read(tmp_path: Path) -> None:
    assert told(tmp_path, "acceptance/test_buf.c:8: no", hidden=("acceptance/",), path="acceptance/test_buf.c") == (
        "acceptance/test_buf.c:8: no"
    )
    assert told(tmp_path, "src/buf.c:8: no", path="src/buf.c") == "src/buf.c:8: no"
    assert told(tmp_path, "../../tests/test_buf.c:8: no") == "../../tests/test_buf.c:8: no"


def test_a_long_message_keeps_its_bounds(tmp_path: Path) -> None:
    message = told(tmp_path, "tests/test_buf.c:8: " + "x" * 480)
    assert len(message) <= MESSAGE_CAP and "buf_add_long(&b, LONG_MIN)" in message
