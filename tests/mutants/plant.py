"""Plants the mistakes of mutants.toml into a copy of the sources.

Each is behind a switch: CORUN_MUTANT=N in the environment of a test program switches mistake N on, and without it the
copy behaves like the original. So one build tries them all, and the sources themselves know nothing of it.
"""

import pathlib
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/mutants/mutants.toml"
SWITCH = """#ifndef CORUN_MUTANT_SWITCH
#define CORUN_MUTANT_SWITCH
#include <cstdlib>
namespace corun {
inline bool mutant_is_on(int number) {
  static const int on = [] { const char* text = std::getenv("CORUN_MUTANT"); return text ? std::atoi(text) : 0; }();
  return on == number;
}
}  // namespace corun
#endif
"""


def mutants():
    """The list, each with its number from 1."""
    listed = tomllib.loads(LIST.read_text())["mutant"]
    return [{**mutant, "number": number} for number, mutant in enumerate(listed, 1)]


def switched(mutant):
    """The code that is one thing or the other, by the switch."""
    switch = f"::corun::mutant_is_on({mutant['number']})"
    if mutant["original"].endswith(";"):
        return f"{{ if ({switch}) {{ {mutant['mutated']} }} else {{ {mutant['original']} }} }}"
    return f"({switch} ? ({mutant['mutated']}) : ({mutant['original']}))"


def misplaced(listed, read=lambda path: (ROOT / path).read_text()):
    """What is wrong with the places of a list of mistakes, a sentence each."""
    for mutant in listed:
        count = read(mutant["file"]).count(mutant["original"])
        if count != 1:
            yield f"mutant {mutant['number']}, {mutant['name']}: its original occurs {count} times in {mutant['file']}"


def planted():
    """path -> text of the files with mistakes."""
    texts = {}
    for mutant in mutants():
        path = mutant["file"]
        text = texts.get(path) or SWITCH + (ROOT / path).read_text()
        texts[path] = text.replace(mutant["original"], switched(mutant))
    return texts


def write(path, content):
    """Leaves a file alone that is so already, so that nothing is built again for it."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def plant(tree):
    """Makes `tree` the copy: the files that git knows, those with mistakes in the place of their originals."""
    complaints = list(misplaced(mutants()))
    if complaints:
        raise SystemExit("\n".join(complaints))
    with_mistakes = planted()
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            check=True, capture_output=True, text=True)
    for path in filter(None, listed.stdout.split("\0")):
        source = ROOT / path
        if source.is_file():
            write(tree / path, with_mistakes[path].encode() if path in with_mistakes else source.read_bytes())
            (tree / path).chmod(source.stat().st_mode)
