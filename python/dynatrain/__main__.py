"""``python -m dynatrain --version``: what is installed, and does it fit."""

from __future__ import annotations

import argparse
import sys

import torch

import dynatrain
from dynatrain import worlds
from dynatrain.runtime import ABI_VERSION, library_path, load_library


def main() -> int:
    parser = argparse.ArgumentParser(prog="dynatrain", description=__doc__)
    parser.add_argument(
        "--version",
        action="store_true",
        required=True,
        help="print versions; exit 1 if torch or the runtime library don't fit",
    )
    parser.parse_args()
    print(f"dynatrain {dynatrain.__version__}, torch {torch.__version__}")
    try:
        worlds.install()
        load_library()
    except dynatrain.Refused as error:
        print(f"dynatrain: {error}", file=sys.stderr)
        return 1
    print(f"runtime {library_path()}, ABI {ABI_VERSION}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
