"""What the tests of the Python package share."""

import pytest

from built_package import PAIR


@pytest.fixture(scope="session")
def quick(tmp_path_factory):
    """The path of results of PAIR: two policies, five seeds."""
    corun = pytest.importorskip("corun.running", reason="the compiled part is not built: ./dev build")
    path = tmp_path_factory.mktemp("quick") / "quick.sqlite"
    corun.run(PAIR, seed=range(1, 6), output=path).close()
    return path
