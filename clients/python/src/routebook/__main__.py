"""``python -m routebook add SITE`` writes typed functions for a site's endpoints."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Optional, Sequence

from .client import Routebook
from .errors import RoutebookError


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m routebook")
    parser.add_argument("--server", help="address of the Routebook; ROUTEBOOK_URL otherwise")
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add", help="write typed functions for a site's hosted endpoints into your program")
    add.add_argument("site")
    add.add_argument("--version", help="number or hash; the latest by default")
    add.add_argument("--out", default="routebook_sites", help="folder to write to (routebook_sites)")
    given = parser.parse_args(arguments)
    try:
        written = Routebook(given.server).package(given.site, version=given.version, format="python")
    except RoutebookError as error:
        print(f"routebook: {error}", file=sys.stderr)
        return 1
    # The server chooses the file name, so only its last path segment is used.
    path = os.path.join(given.out, os.path.basename(written["file"]))
    os.makedirs(given.out, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(written["source"])
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
