"""Makes `import corun` work in the tests and in the notebooks' kernels, and keeps plots off the screen."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[2]

sys.path.insert(0, str(ROOT / "python"))
os.environ["PYTHONPATH"] = str(ROOT / "python")
os.environ["MPLBACKEND"] = "Agg"
