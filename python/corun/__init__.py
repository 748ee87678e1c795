"""What several programs on one GPU do to each other: run experiments, read results, compare policies.

    import corun
    results = corun.run("experiments/quickstart.yaml", until="2s")
    results                                     # in a notebook: the summary
    corun.compare(results, baseline="passthrough")
    results.table("frames", policy="pilotfish").to_polars()

Reading results files (`open`, the tables of `Results`) is Python alone. Everything else is in the compiled part of the
package, which `pip install .` in the repository and `./dev build` make; names that need it say so where it is absent.

Tables are pandas DataFrames where pandas is installed, else lists of dicts; `Table` hands its columns to pandas, polars
and Arrow without copying them. Times are integer nanoseconds since the run began. Columns carry their unit in the name
(`_ns`, `_ratio`), and nothing is averaged unless a name says so.
"""

import importlib
from typing import TYPE_CHECKING

from corun.errors import DeviceError, Error, InputError, PolicyError, UnsupportedError, near_names
from corun.results import Results, open

if TYPE_CHECKING:
    from corun import parameter, statistics
    from corun.advising import advise, fit
    from corun.comparison import compare
    from corun.conformance import check_policy
    from corun.experiment import Experiment
    from corun.metric_table import metrics
    from corun.policy import Policy
    from corun.running import run
    from corun.searching import search
    from corun.sweeping import sweep
    from corun.table import Table
    from corun.timeline import Timeline

# Names of the compiled part, imported when they are first asked for.
_COMPILED = {"Experiment": "corun.experiment", "Policy": "corun.policy", "Table": "corun.table",
             "Timeline": "corun.timeline", "advise": "corun.advising", "check_policy": "corun.conformance",
             "compare": "corun.comparison", "fit": "corun.advising", "metrics": "corun.metric_table",
             "run": "corun.running", "search": "corun.searching", "sweep": "corun.sweeping"}
_MODULES = {"parameter", "statistics"}

__all__ = ["DeviceError", "Error", "Experiment", "InputError", "Policy", "PolicyError", "Results", "Table", "Timeline",
           "UnsupportedError", "advise", "check_policy", "compare", "fit", "metrics", "open", "parameter", "run",
           "search", "statistics", "sweep"]
__version__ = "0.1.0"

if not TYPE_CHECKING:  # else any name would do

    def __getattr__(name):
        if name in _MODULES:
            return importlib.import_module(f"corun.{name}")
        if name not in _COMPILED:
            near = " or ".join(near_names(name, __all__))
            hint = f": did you mean {near}?" if near else ""
            raise AttributeError(f"module 'corun' has no attribute {name!r}{hint}")
        value = getattr(importlib.import_module(_COMPILED[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__file__", "__version__"])
