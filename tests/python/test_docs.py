"""Every public name has a docstring with an example, and the examples hold."""

import doctest
import importlib
import inspect
import pathlib
import re

import pytest

import corun
from conftest import CAPTURE, PAIR

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")

MODULES = [corun] + [importlib.import_module(f"corun.{path.stem}")
                     for path in sorted(pathlib.Path(corun.__file__).parent.glob("*.py")) if path.stem != "__init__"]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_hold(module, quick):
    globals_ = {"corun": corun, "QUICK": quick, "PAIR": PAIR, "CAPTURE": CAPTURE}
    failed, _ = doctest.testmod(module, extraglobs=globals_, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_every_public_name_has_a_docstring_with_an_example():
    public = {name: getattr(corun, name) for name in corun.__all__}
    for module in (corun.parameter, corun.statistics):
        public |= {f"{module.__name__}.{name}": getattr(module, name) for name in module.__all__}
    plain = {"DeviceError", "PolicyError", "UnsupportedError", "InputError", "parameter", "statistics",
             "corun.parameter.Parameter", "Table", "Results"}
    without = [name for name, value in public.items() if not inspect.getdoc(value)]
    assert not without
    assert not [name for name, value in public.items() if name not in plain and ">>>" not in inspect.getdoc(value)]


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
