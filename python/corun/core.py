"""The compiled part of the package, or what to do where it is absent."""

try:
    from corun import _core
except ImportError as error:
    raise ImportError(f"the compiled part of corun is not there ({error}): run `pip install .` in the repository, or "
                      "`./dev build` and put build/release/python on PYTHONPATH") from error

__all__ = ["_core"]
