"""The code of loaded functions is exchanged where that is the same as loading the new text, and refused where it is not."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from agent.repair.live_code import LiveCode

SHOP = '''\
import functools

RATE = 2


def at_import(x):
    return x * RATE


FIRST = at_import(3)


def price(amount, rate=1):
    return amount - rate


@functools.lru_cache
def cached(x):
    return x + 1


class Till:
    start = 0

    def total(self, items):
        return sum(one for one in items if one > 0)


def outer(x):
    def inner():
        return x - 1

    return inner()
'''


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[tuple[LiveCode, ModuleType]]:
    """A loaded module and what can exchange its code."""
    path = tmp_path.resolve() / "shop.py"
    path.write_text(SHOP)
    live = LiveCode(str(path.parent))
    found = importlib.util.spec_from_file_location("shop_for_test", path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["shop_for_test"] = module
    found.loader.exec_module(module)
    live.loaded()
    yield live, module
    del sys.modules["shop_for_test"]


def exchange(live: LiveCode, old: str, new: str) -> bool:
    """One replacement in the module's text."""
    assert old in SHOP
    return live.exchange({"shop.py": SHOP}, {"shop.py": SHOP.replace(old, new, 1)})


def test_functions_methods_and_what_decorators_hold(shop: tuple[LiveCode, ModuleType]) -> None:
    live, module = shop
    held = module.price
    assert exchange(live, "amount - rate", "amount + rate") and held(2) == 3
    assert exchange(live, "x + 1", "x + 2") and module.cached(1) == 3
    assert exchange(live, "if one > 0", "if one >= 0\n                   for two in (1, 2)")
    assert module.Till().total([3]) == 6
    assert exchange(live, "return x - 1", "return x + 1") and module.outer(1) == 2
    assert exchange(live, "return amount", "amount = 7\n    return amount") and module.price(1) == 6


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("RATE = 2", "RATE = 3"), ("rate=1", "rate=2"), ("start = 0", "start = 1"), ("x * RATE", "x + RATE"),
        ("@functools.lru_cache\n", ""), ("def price", "def cost"), ("def outer", "def added():\n    pass\n\n\ndef outer"),
    ],
)  # fmt: skip
def test_what_loading_would_do_otherwise_is_refused(shop: tuple[LiveCode, ModuleType], old: str, new: str) -> None:
    live, module = shop
    assert not exchange(live, old, new)
    assert module.price(2) == 1 and module.FIRST == 6


def test_a_file_that_is_not_loaded_and_a_text_that_is_none(shop: tuple[LiveCode, ModuleType]) -> None:
    live, _ = shop
    assert not live.exchange({"other.py": "x = 1\n"}, {"other.py": "x = 2\n"})
    with pytest.raises(SyntaxError):
        exchange(live, "return amount", "return (")
