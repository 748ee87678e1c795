"""Licences of the libraries that the programs are built with: in the install tree, and in wheels, whose metadata names
them. The wheel here is made up; one that `./dev wheel` has made is looked at where there is one."""

import csv
import io
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = ROOT / "build/release"
OF_THE_COMPILER = re.compile(r"(libc6|libc\d*|libstdc\+\+-\d+|libgcc-\d+|linux-libc|libcrypt)-dev$")


def said_by(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    if not (BUILD / "simcli").exists():
        pytest.skip("simcli is not built: ./dev build")
    folder = tmp_path_factory.mktemp("installed")
    said_by("cmake", "--install", BUILD, "--prefix", folder, "--component", "programs")
    return folder


def packages_used():
    """The Debian packages of all headers and static libraries that the build has used."""
    listed = said_by("ninja", "-C", BUILD, "-t", "deps")
    headers = set(re.findall(r"^ +(/usr/(?:include|lib)/\S+)", listed, re.MULTILINE))
    one_a_folder = {path.rpartition("/")[0]: path for path in sorted(headers)} | {
        path: path for path in headers if path.count("/") == 3}
    archives = set(re.findall(r"/usr/lib/\S+\.a\b", (BUILD / "build.ninja").read_text(encoding="utf-8")))
    owners = said_by("dpkg-query", "--search", *one_a_folder.values(), *archives)
    return {re.split("[:,]", line)[0] for line in owners.splitlines()}


def test_the_install_tree_has_a_licence_of_all_that_was_compiled_in(prefix):
    there = {path.stem for path in (prefix / "share/doc/corun/licences").glob("*.txt")}
    used = {package for package in packages_used() if not OF_THE_COMPILER.match(package)}
    headers_of = {"libpython3.11-dev": "python3-dev"}  # a package of packages.txt -> what it depends on
    missing = {package for package in used if headers_of.get(package, package) not in there}
    assert {"libeigen3-dev", "nettle-dev", "libiberty-dev"} <= used and "chart.js" in there
    assert not missing, "packages.txt does not name them, or Debian keeps their licence elsewhere"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel with a licence of the install tree and a library, as auditwheel leaves it."""
    pytest.importorskip("wheel", reason="python3-wheel (packages.txt)")
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "corun-0.1.0"
    for name, text in {
            "corun/share/doc/corun/licences/chart.js.txt": "MIT", "corun-0.1.0.dist-info/licenses/LICENSE": "own",
            "corun-0.1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-any\n",
            "corun-0.1.0.dist-info/METADATA": "Metadata-Version: 2.4\nName: corun\nVersion: 0.1.0\n"
                                              "License-File: LICENSE\n\nWhat it is\n\nMore\n"}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    library = next(pathlib.Path("/usr/lib").glob("*/libzstd.so.1")).resolve()
    (tree / "corun.libs").mkdir()
    shutil.copy(library, tree / "corun.libs" / library.name.replace(".so", "-1a2b3c4d.so"))
    said_by(sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, tree)
    path, = folder.glob("*.whl")
    return path


def add_licences(path):
    return subprocess.run([sys.executable, ROOT / "packaging/wheel_licences.py", path], capture_output=True, text=True,
                          check=False)


def named_and_held(path):
    """Licences that the metadata names, those in the wheel, and the libraries in it."""
    with zipfile.ZipFile(path) as file:
        metadata, = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        head = file.read(metadata).decode().partition("\n\n")[0]
        place = metadata.replace("METADATA", "licenses/")
        held = {name.removeprefix(place) for name in file.namelist() if name.startswith(place)}
        record = {row[0] for row in csv.reader(io.StringIO(file.read(metadata.replace("METADATA", "RECORD")).decode()))}
        assert record == set(file.namelist())
        libraries = [name for name in file.namelist() if ".libs/" in name]
    return re.findall(r"^License-File: (.*)$", head, re.MULTILINE), held, libraries


def test_a_wheel_gets_the_licences_of_its_libraries_and_names_each_once(wheel, tmp_path):
    path = shutil.copy(wheel, tmp_path)
    done = add_licences(path)
    assert done.returncode == 0, done.stderr
    named, held, _ = named_and_held(path)
    assert sorted(named) == sorted(held) and {"LICENSE", "chart.js.txt", "libzstd1.txt", "GPL-2.txt"} <= held
    with zipfile.ZipFile(path) as file:
        text = file.read("corun-0.1.0.dist-info/METADATA").decode()
        assert b"Facebook" in file.read("corun-0.1.0.dist-info/licenses/libzstd1.txt")
    assert text.endswith("\n\nWhat it is\n\nMore\n")


def test_a_library_of_no_package_is_refused_by_name(wheel, tmp_path):
    said_by(sys.executable, "-m", "wheel", "unpack", "--dest", tmp_path, wheel)
    (tmp_path / "corun-0.1.0/corun.libs/libours-00000000.so.1").touch()
    said_by(sys.executable, "-m", "wheel", "pack", "--dest-dir", tmp_path, tmp_path / "corun-0.1.0")
    path, = tmp_path.glob("*.whl")
    done = add_licences(path)
    assert done.returncode != 0 and "libours.so.1: no package of this Debian has it" in done.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "build/wheel").glob("*.whl")), ids=lambda path: path.name)
def test_a_built_wheel_has_the_licence_of_each_library_in_it(path):
    named, held, libraries = named_and_held(path)
    assert set(named) == held and libraries
    for library in libraries:
        name = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library.rpartition("/")[2])
        owner = said_by("dpkg-query", "--search", f"*/{name}").split(":")[0]
        assert f"{owner}.txt" in held, library
