"""Reads what `simcli run` wrote.

    import corun
    results = corun.open("results/quickstart.sqlite")
    results.summary()          # mean and 95 % interval over seeds, by policy and client
    results.frames             # one row per presented frame

Tables are pandas DataFrames where pandas is installed, else lists of dicts. Columns carry their unit in the name
(`_ns`, `_ratio`), and nothing is averaged unless a name says so.
"""

from corun.results import InputError, Results, open

__all__ = ["InputError", "Results", "open"]
__version__ = "0.1.0"
