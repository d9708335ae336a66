"""What the commands of the steps share: arguments, and how they end if their input is wrong."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def training(description: str | None) -> argparse.ArgumentParser:
    """The arguments of a step that trains."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--after", type=Path)
    return parser


def run(main: Callable[[], None]) -> None:
    """Says in one line what was wrong, and ends with status 1."""
    try:
        main()
    except (OSError, ValueError, ArithmeticError) as error:
        sys.exit(f"{Path(sys.argv[0]).stem}: {error}")
