"""The command `twincell`."""

from . import __version__


def main() -> int:
    """Runs the command line and returns its exit status."""
    print(f"twincell {__version__}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
