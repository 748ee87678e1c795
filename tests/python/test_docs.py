"""Every public name has a docstring with an example, and the examples hold."""

import doctest
import importlib
import inspect
import os
import pathlib
import re

import pytest

import corun
from built_package import CAPTURE, PAIR, SERVING

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")

MODULES = [corun] + [importlib.import_module(f"corun.{path.stem}")
                     for path in sorted(pathlib.Path(corun.__file__).parent.glob("*.py")) if path.stem != "__init__"]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_hold(module, quick):
    globals_ = {"corun": corun, "os": os, "QUICK": quick, "PAIR": PAIR, "SERVING": SERVING, "CAPTURE": CAPTURE}
    failed, _ = doctest.testmod(module, extraglobs=globals_, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


# Public names without an example of their own, and where the reader finds one.
NO_EXAMPLE = {"corun.parameter": "at its functions", "corun.statistics": "at its functions",
              "corun.DeviceError": "takes a machine that fails",
              "corun.UnsupportedError": "takes a machine that lacks something"}
HOOKS = "corun.Policy."  # what the engine calls; the class shows one whole policy


def public_names():
    """{dotted name: value} of what users may call: names of the package, of its public modules,
    and members of classes."""
    names = {f"corun.{name}": getattr(corun, name) for name in corun.__all__}
    for module in (corun.parameter, corun.statistics):
        names |= {f"{module.__name__}.{name}": getattr(module, name) for name in module.__all__}
    names["corun.Results.plot"] = importlib.import_module("corun.plots").Plots
    for name, value in list(names.items()):
        if inspect.isclass(value):
            names |= {f"{name}.{member}": getattr(it, "fget", None) or getattr(it, "__func__", it)
                      for kind in value.__mro__ if kind.__module__.startswith("corun")
                      for member, it in vars(kind).items()
                      if not member.startswith("_")
                      and (callable(it) or isinstance(it, (property, classmethod, staticmethod)))}
    return names


def test_every_public_name_has_a_docstring_with_an_example():
    docs = {name: inspect.getdoc(value) or "" for name, value in public_names().items()}
    assert len(docs) > 70 and "corun.Results.frame_times" in docs and "corun.Results.plot.frontier" in docs
    assert not [name for name, text in docs.items() if not text]
    assert not [name for name, text in docs.items()
                if ">>>" not in text and name not in NO_EXAMPLE and not name.startswith(HOOKS)]
    assert not [name for name in NO_EXAMPLE if ">>>" in docs[name]]


def test_stubs_name_what_there_is():
    from corun import _core

    stub = (pathlib.Path(corun.__file__).parent / "_core.pyi").read_text()
    for name, value in vars(_core).items():
        if name.startswith("_"):
            continue
        assert re.search(rf"^(def |class |){name}\b", stub, re.MULTILINE), name
        if inspect.isclass(value):
            body = stub.partition(f"class {name}")[2].partition("\nclass ")[0]
            for member in vars(value):
                if not member.startswith("_") or member.startswith("__arrow"):
                    assert f" {member}" in body, f"{name}.{member}"
