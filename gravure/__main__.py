"""`python -m gravure` is the `gravure` command."""

from . import interrupts


def main() -> int:
    """Run the command; return its exit status."""
    interrupts.end_at_once()
    from .tools.cli import main as run  # noqa: PLC0415  (behind what an interrupt does meanwhile)

    return run()


if __name__ == "__main__":
    raise SystemExit(main())
