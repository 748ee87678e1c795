#!/usr/bin/env python3
"""Carries out packaging/Containerfile where no container runtime is, in minimal roots of Debian 12, and runs the
quickstart in the last one by the image's entry point.

    tests/install/build_image.py [--package FILE] [--keep FOLDER] [--ccache FOLDER]

--package takes a package that is there and leaves out the stage that builds one. Without --keep the roots are removed
at the end. --ccache is a compiler cache that the stages use, too.
Needs root, debootstrap and apt sources of Debian 12 on the host. Prints one line with the time of each step, and the
size of the last root. The instructions FROM, COPY, WORKDIR, RUN and ENTRYPOINT are known, in the forms used there.
"""

import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTAINERFILE = ROOT / "packaging/Containerfile"
QUICKSTART = ["run", "/usr/share/corun/experiments/quickstart.yaml", "-o", "quickstart.sqlite", "--progress", "none"]
CCACHE = "root/.cache/ccache"
ENVIRONMENT = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
               "DEBIAN_FRONTEND=noninteractive"]


def instructions(text):
    """(instruction, its words or text) of every line, continued lines joined."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(maxsplit=1)) for line in lines]


def host_says(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Stage:
    """One root: the file system, and the folder in which commands run."""

    def __init__(self, folder, image, ccache):
        suite = image.partition(":")[2]
        self.folder, self.work = folder, "/"
        mirror = host_says("apt-get", "indextargets", "--format", "$(REPO_URI)", "Identifier: Packages",
                           f"Release: {suite}").split("\n")[0]
        subprocess.run(["debootstrap", "--variant=minbase", suite, folder, mirror], check=True,
                       stdout=subprocess.DEVNULL)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", folder / "etc" / name)
        settings = [line for line in host_says("apt-config", "dump").splitlines()
                    if line.startswith(("Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check-"))]
        (folder / "etc/apt/apt.conf.d/90host").write_text("\n".join(settings) + "\n")
        subprocess.run(["mount", "-t", "proc", "proc", folder / "proc"], check=True)
        subprocess.run(["mount", "--bind", "/dev", folder / "dev"], check=True)
        if ccache:
            (folder / CCACHE).mkdir(parents=True)
            subprocess.run(["mount", "--bind", ccache, folder / CCACHE], check=True)

    def run(self, *command):
        script = f"mkdir -p {self.work} && cd {self.work} && exec \"$@\""
        subprocess.run(["chroot", self.folder, *ENVIRONMENT, "bash", "-c", script, "bash", *command], check=True)


def copy(stages, stage, words, package):
    """COPY of the committed tree, or of the package from the stage that builds it."""
    if words[0].startswith("--from="):
        source = package or stages[words[0].removeprefix("--from=")].folder / words[1].lstrip("/")
        shutil.copy(source, stage.folder / words[2].lstrip("/"))
    else:
        host_says("git", "-C", ROOT, "clone", "--quiet", "--no-hardlinks", ROOT, stage.folder / words[1].lstrip("/"))


def wanted(found, package):
    """The instructions, without the first stage where there is a package."""
    last = max(i for i, (instruction, _) in enumerate(found) if instruction == "FROM")
    return found[last:] if package else found


def build(folder, options):
    """Carries out the instructions. Returns the stages by name, in order, and the entry point."""
    stages, stage, entry = {}, None, []
    for instruction, text in wanted(instructions(CONTAINERFILE.read_text()), options.package):
        start, words = time.monotonic(), shlex.split(text)
        if instruction == "FROM":
            name = words[2] if len(words) > 1 else "image"
            stage = stages[name] = Stage(folder / name, words[0], options.ccache)
        elif instruction == "COPY":
            copy(stages, stage, words, options.package)
        elif instruction == "WORKDIR":
            stage.work = text
        elif instruction == "RUN":
            stage.run("sh", "-c", text)
        elif instruction == "ENTRYPOINT":
            entry = json.loads(text)
        else:
            raise SystemExit(f"build_image.py: {instruction} is not known here")
        print(f"{time.monotonic() - start:6.1f} s  {instruction} {text}", flush=True)
    return stages, entry


def remove(folder, kept):
    """Ends what is mounted in the roots, and removes them if they are not kept: never what is mounted still."""
    for place in ("dev", "proc", CCACHE):
        for root in folder.glob("*"):
            subprocess.run(["umount", "--lazy", root / place], check=False, stderr=subprocess.DEVNULL)
    if not kept:
        subprocess.run(["rm", "-rf", "--one-file-system", folder], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--package", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--ccache", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        stages, entry = build(folder, options)
        image, start = list(stages.values())[-1], time.monotonic()
        image.run(*entry, *QUICKSTART)
        print(f"{time.monotonic() - start:6.1f} s  the quickstart")
        size = host_says("du", "-sm", "--one-file-system", image.folder).split()[0]
        print(f"{int(size):6d} MB  the last root")
    finally:
        remove(folder, kept=options.keep is not None)


if __name__ == "__main__":
    main()
