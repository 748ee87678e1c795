#!/usr/bin/env python3
"""Writes logs of steps as they were while the servers served alone, the grid's for sizes that no load had:

    served_steps.py FOLDER                      FOLDER/SERVER.steps.csv
"""

import pathlib
import sys
import tarfile

from cells import HERE, LOADS, SERVERS


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(HERE / "measured" / "serving.tar.gz") as archive:
        for server in SERVERS:
            header, *lines = (HERE / "grid" / f"{server}.steps.csv").read_text(encoding="utf-8").splitlines()
            for load in LOADS:
                name = f"{server}_{load}"
                lines += archive.extractfile(f"turns_{name}.{name}.steps.csv").read().decode().splitlines()[1:]
            (folder / f"{server}.steps.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
