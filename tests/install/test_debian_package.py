"""The Debian package: it holds what users need, and names the packages that its programs load."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = ROOT / "build/release"


def said_by(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    if not (BUILD / "simcli").exists():
        pytest.skip("simcli is not built: ./dev build")
    if not (shutil.which("dpkg-shlibdeps") and shutil.which("file")):
        pytest.skip("needs dpkg-dev and file")
    folder = tmp_path_factory.mktemp("package")
    said_by("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder)
    file, = folder.glob("corun_*.deb")
    return file


def libraries(program):
    """The files of the libraries that the program itself names; others follow from those."""
    needed = re.findall(r"NEEDED.*\[(.*)\]", said_by("readelf", "-d", program))
    found = dict(re.findall(r"^\s*(\S+) => (\S+)", said_by("ldd", program), re.MULTILINE))
    return {pathlib.Path(found[name]).resolve() for name in needed if name in found}


def test_names_the_packages_of_all_libraries_of_its_programs(package):
    named = {entry.split()[0] for entry in said_by("dpkg-deb", "-f", package, "Depends").split(",")}
    for library in libraries(BUILD / "simcli") | libraries(BUILD / "simtrace"):
        owner = said_by("dpkg-query", "-S", f"*/{library.parent.name}/{library.name}").split(":")[0]
        assert owner in named, (library, owner, named)


def test_holds_programs_recorders_headers_pages_and_the_quickstart(package, tmp_path):
    said_by("dpkg-deb", "-x", package, tmp_path)
    for path in ("bin/simcli", "bin/simtrace", "bin/corun-worker", "bin/corun-probe", "lib/corun/libcorun_cuda.so",
                 "lib/corun/libcorun_gate.so", "include/corun/sim/policy/policy.h", "lib/cmake/Corun/CorunConfig.cmake",
                 "lib/python3/dist-packages/corun/__init__.py", "share/man/man1/simcli.1", "share/doc/corun/copyright",
                 "share/doc/corun/licences/chart.js.txt", "share/corun/grafana/corun-live.json"):
        assert (tmp_path / "usr" / path).is_file(), path
    version = subprocess.run([tmp_path / "usr/bin/simcli", "version"], capture_output=True, text=True).stdout
    assert version.startswith(f"simcli {said_by('dpkg-deb', '-f', package, 'Version').strip()} ")


def test_is_for_the_python_that_its_module_was_compiled_for(package):
    listed = said_by("dpkg-deb", "-c", package)
    minor = int(re.search(r"_core\.cpython-3(\d+)-", listed)[1])
    depends = said_by("dpkg-deb", "-f", package, "Depends")
    assert f"python3 (>= 3.{minor}), python3 (<< 3.{minor + 1})" in depends
