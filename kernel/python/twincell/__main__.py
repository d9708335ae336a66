"""The command `twincell`."""

import sys

from ._twincell import main as run


def main() -> int:
    """Runs the command line and returns its exit status."""
    try:
        return run(sys.argv[1:])
    except KeyboardInterrupt:
        # An interrupt during output.
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
