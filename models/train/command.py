"""How the steps end if their input is wrong."""

import sys
from collections.abc import Callable
from pathlib import Path


def run(main: Callable[[], None]) -> None:
    """Says in one line what was wrong, and ends with status 1."""
    try:
        main()
    except (OSError, ValueError, ArithmeticError) as error:
        sys.exit(f"{Path(sys.argv[0]).stem}: {error}")
