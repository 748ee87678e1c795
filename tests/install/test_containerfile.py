"""packaging/Containerfile takes what `./dev package` makes. tests/install/build_image.py carries it out."""

import pathlib
import re

import build_image

ROOT = pathlib.Path(__file__).parents[2]


def words_of(instruction):
    lines = build_image.instructions(build_image.CONTAINERFILE.read_text())
    return [text for name, text in lines if name == instruction]


def test_copies_the_package_of_this_version():
    version = re.search(r"project\(corun VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert f"--from=build /src/build/release/package/corun_{version}_amd64.deb /corun.deb" in words_of("COPY")


def test_builds_and_runs_on_the_same_release_of_debian():
    assert {text.split()[0] for text in words_of("FROM")} == {"debian:bookworm"}


def test_has_only_instructions_that_are_tried():
    lines = build_image.instructions(build_image.CONTAINERFILE.read_text())
    assert {name for name, _ in lines} <= {"FROM", "COPY", "WORKDIR", "RUN", "ENTRYPOINT"}
