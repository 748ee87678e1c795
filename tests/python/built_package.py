"""Makes `import corun` work in the tests and in the notebooks' kernels, and keeps plots off the screen.

The package of the build tree has the compiled part; CORUN_PYTHON names another folder that holds the package. Where it
was not built, the plain package is tested, and tests that need more are skipped.
"""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = pathlib.Path(os.environ.get("CORUN_PYTHON", ROOT / "build/release/python"))
if not list(PACKAGE.glob("corun/_core*.so")):
    PACKAGE = ROOT / "python"

sys.path.insert(0, str(PACKAGE))
os.environ["PYTHONPATH"] = str(PACKAGE)
os.environ["MPLBACKEND"] = "Agg"

PAIR = ROOT / "tests/python/pair.yaml"
SERVING = ROOT / "tests/python/serving.yaml"
CAPTURE = ROOT / "traces/samples/resnet50_train_bs64.kineto.json.gz"
