"""`python -m gravure` is the `gravure` command."""

from .tools.cli import main

raise SystemExit(main())
