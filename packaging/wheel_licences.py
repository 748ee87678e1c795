"""Puts licences into a wheel that auditwheel has repaired, and names them in its metadata.

    wheel_licences.py WHEEL

Libraries that auditwheel has put into the wheel are under the licences of the Debian packages that they came from; of
what the programs were built with, the install tree in the wheel has the licences. Needs the package `wheel`.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

INSTALLED = "corun/share/doc/corun/licences"
COMMON = pathlib.Path("/usr/share/common-licenses")  # texts that Debian keeps once for all packages


def original_name(library):
    """libfmt.so.9.1.0 of libfmt-1a2b3c4d.so.9.1.0, as auditwheel has called it."""
    return re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library.name)


def licence_of(library):
    """Where the licence of a library in the wheel is on this machine."""
    name = original_name(library)
    found = subprocess.run(["dpkg-query", "--search", f"*/{name}"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        sys.exit(f"{name}: no package of this Debian has it, so its licence is not known\n{found.stderr}")
    return pathlib.Path("/usr/share/doc") / re.split("[:,]", found.stdout)[0] / "copyright"


def licences_of(unpacked):
    """{name: path} of all that the wheel needs."""
    texts = {path.stem: path for path in (unpacked / INSTALLED).glob("*.txt")}
    for library in unpacked.glob("*.libs/*.so*"):
        path = licence_of(library)
        texts[path.parent.name] = path
    for path in list(texts.values()):
        for name in re.findall(rf"{COMMON}/([\w.-]*\w)", path.read_text(encoding="utf-8", errors="replace")):
            texts[name] = COMMON / name
    return texts


def add_licences(unpacked):
    """Into the folder `licenses` of the metadata, which says what is there."""
    metadata, = unpacked.glob("*.dist-info/METADATA")
    folder = metadata.parent / "licenses"
    texts = licences_of(unpacked)
    for name, path in texts.items():
        (folder / f"{name}.txt").write_bytes(path.read_bytes())
    lines = "".join(f"License-File: {name}.txt\n" for name in sorted(texts))
    head, end, description = metadata.read_text().partition("\n\n")
    metadata.write_text(f"{head}\n{lines}".rstrip() + end + description)


def main():
    wheel = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", folder, wheel], check=True)
        unpacked, = pathlib.Path(folder).iterdir()
        add_licences(unpacked)
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", wheel.parent, unpacked], check=True)


if __name__ == "__main__":
    main()
