"""Build the site: `python -m gravure.tools.site FOLDER`."""

import sys
from pathlib import Path

from .build import build

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m gravure.tools.site FOLDER")
    sys.stdout.write(f"{build(Path(sys.argv[1]))}\n")
