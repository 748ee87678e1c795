"""Entry points of the programs in the wheel: a package of its own, since `import corun` takes longer than most of their
commands."""

import os
import pathlib
import sys
from typing import NoReturn


def _become(name: str) -> NoReturn:
    os.execv(pathlib.Path(__file__).parents[1] / "corun/bin" / name, sys.argv)


def simcli() -> NoReturn:
    _become("simcli")


def simtrace() -> NoReturn:
    _become("simtrace")
