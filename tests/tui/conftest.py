"""The same environment and fixtures as the screens' tests."""

from tests.screens.conftest import plain_environment, toasts

__all__ = ["plain_environment", "toasts"]
