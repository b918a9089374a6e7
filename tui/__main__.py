"""``python -m tui`` is ``cra``."""

from tui.cli import main

if __name__ == "__main__":
    main()
