"""A copy of the tree in which every sampled site holds the original and the mistake, chosen at run time.

CORUN_MUTANT=N in the environment switches mistake N on. CORUN_MUTANTS_REACHED names a file of one byte for each
mistake: the byte is set where the mistake's place was executed, in a test or in a program that it started.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import random
import re
import subprocess

import plant

HERE = plant.ROOT / "build/mutation"
TREE = HERE / "tree"
BUILT = TREE / "build/dev"
FOLDERS = ["sim/metrics", "sim/live", "sim", "policies", "experiments/statistics", "experiments/summary",
           "traces/importers", "tracer/gate"]
SWITCH = """#ifndef CORUN_MUTANT_SWITCH
#define CORUN_MUTANT_SWITCH
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
namespace corun {
struct [[gnu::visibility("hidden")]] MutantSwitch {
  int on = 0;
  unsigned char* reached = nullptr;
  MutantSwitch() {
    if (const char* number = ::getenv("CORUN_MUTANT")) on = ::atoi(number);
    const char* path = ::getenv("CORUN_MUTANTS_REACHED");
    const int file = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void* at = ::mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) reached = static_cast<unsigned char*>(at);
    ::close(file);
  }
};
[[gnu::visibility("hidden")]] inline MutantSwitch mutant_switch;
constexpr bool mutant_is_on(int number) {
  if (__builtin_is_constant_evaluated()) return false;
  if (mutant_switch.reached) mutant_switch.reached[number] = 1;
  return mutant_switch.on == number;
}
}  // namespace corun
#endif
#line 1
"""
FLAGS = "-O0 -w"  # what compiles fastest: sanitizers cost a build twice the time, optimising a third more


# Programs of tests that come to none of FOLDERS, or only by way of what other programs of tests cover.
UNNEEDED = re.compile(r"_bench$|fuzz_|^gl_|^vulkan_|^scene|^cupti_abi|^part_tests$|^export_tests$|^native_tests$"
                      r"|^source_tests$|^trace_tests$|^record_test$|^h200_corun_test$")


def folder_of(path):
    """The folder of the score to which a source belongs, or None."""
    found = [folder for folder in FOLDERS if path.startswith(folder + "/")]
    return max(found, key=len, default=None)


def sources():
    listed = subprocess.run(["git", "ls-files"], cwd=plant.ROOT, check=True, capture_output=True, text=True)
    found = {path for path in listed.stdout.splitlines() if path.endswith((".cpp", ".h")) and folder_of(path)}
    return sorted(found - {path.removesuffix(".cpp") + ".h" for path in found if path.endswith(".cpp")})


# --- sites

def sites_of(path):
    """The sites of a file and its header, remembered for as long as these and the finder stay as they are."""
    import sites
    finder = pathlib.Path(sites.__file__).read_bytes()
    header = plant.ROOT / (path.removesuffix(".cpp") + ".h")
    text = (plant.ROOT / path).read_bytes() + (header.read_bytes() if header.exists() else b"")
    key = hashlib.sha256(finder + path.encode() + text).hexdigest()[:24]
    kept = HERE / f"sites/{key}.json"
    if not kept.exists():
        try:
            found = sites.sites_of(plant.ROOT, path, ["-xc++", "-std=c++20", *include_folders()])
        except ValueError as error:
            print(f"left out: {error}", flush=True)
            return []
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
    return json.loads(kept.read_text())


@functools.cache
def include_folders():
    """What any file of the tree is compiled with, the tree itself in the place of the copy."""
    commands = (BUILT / "compile_commands.json").read_text()
    found = dict.fromkeys(re.findall(r"(?:-I|-isystem )(/[^\s\"]+)", commands))
    return [f"-I{plant.ROOT if folder == str(TREE) else folder}" for folder in found]


def all_sites():
    with concurrent.futures.ProcessPoolExecutor() as pool:
        return [site for found in pool.map(sites_of, sources(), chunksize=4) for site in found]


def sample(found, count, seed, only=None):
    """`count` sites at random, as many of each folder as the root of its size says; none overlaps another."""
    by_folder = {folder: [] for folder in FOLDERS if not only or folder.startswith(only)}
    for site in found:
        by_folder.get(folder_of(site["file"]), []).append(site)
    weights = {folder: len(members) ** 0.5 for folder, members in by_folder.items()}
    chosen = []
    for folder, members in by_folder.items():
        draw = random.Random(f"{seed} {folder}")
        draw.shuffle(members)
        chosen += apart(members, round(count * weights[folder] / sum(weights.values())))
    return [{**site, "number": number} for number, site in enumerate(chosen, 1)]


def apart(members, count):
    """The first `count` of them that overlap none before."""
    taken, chosen = {}, []
    for site in members:
        if len(chosen) == count:
            break
        spans = taken.setdefault(site["file"], [])
        if all(site["end"] < start or end < site["start"] for start, end in spans):
            spans.append((site["start"], site["end"]))
            chosen.append(site)
    return chosen


# --- the copy

def instrumented(path, chosen):
    text = (plant.ROOT / path).read_bytes()
    for site in sorted(chosen, key=lambda one: -one["start"]):
        code = site["code"].replace("@", f"::corun::mutant_is_on({site['number']})")
        text = text[:site["start"]] + code.encode() + text[site["end"]:]
    return text


def write_tree(chosen):
    """Makes TREE the copy: the files that git knows, those with sites in the place of their originals."""
    size = 4096 * (1 + max((site["number"] for site in chosen), default=0) // 4096)
    by_file = {}
    for site in chosen:
        by_file.setdefault(site["file"], []).append(site)
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=plant.ROOT,
                            check=True, capture_output=True, text=True)
    for path in filter(None, listed.stdout.split("\0")):
        source = plant.ROOT / path
        if source.is_file():
            content = source.read_bytes()
            if path in by_file:
                content = SWITCH.replace("SIZE", str(size)).encode() + instrumented(path, by_file[path])
            plant.write(TREE / path, content)
            (TREE / path).chmod(source.stat().st_mode)
    shared, link = plant.ROOT.parent / "shared", HERE / "shared"
    if shared.exists() and not link.exists():
        link.symlink_to(shared)


def configure():
    """The build folder of the copy, from which the finder learns what the code is compiled with."""
    if (BUILT / "compile_commands.json").exists():
        return
    write_tree([])
    subprocess.run(["cmake", "--preset", "dev", "-B", BUILT, f"-DCMAKE_CXX_FLAGS_DEBUG={FLAGS}",
                    "-DCORUN_SANITIZE=OFF", "-DCORUN_WARNINGS_AS_ERRORS=OFF"], cwd=TREE, check=True,
                   stdout=subprocess.DEVNULL)


def programs():
    """The programs of tests that are built; what they start or load is built with them."""
    text = subprocess.run(["ninja", "-C", BUILT, "-t", "targets", "all"], check=True, capture_output=True, text=True)
    found = re.findall(r"^(\w+_tests?): CXX_EXECUTABLE_LINKER", text.stdout, re.MULTILINE)
    return [name for name in found if not UNNEEDED.search(name)]


def build(chosen):
    """Builds the copy and its tests; sites that do not compile are dropped. What is left of `chosen`."""
    environment = {**os.environ, "CCACHE_BASEDIR": str(TREE), "CCACHE_NOHASHDIR": "1",
                   "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
    while True:
        write_tree(chosen)
        done = subprocess.run(["nice", "ninja", "-C", BUILT, "-k", "0", *programs()], env=environment,
                              capture_output=True, text=True, errors="replace")
        (HERE / "build.log").write_text(done.stdout)
        if done.returncode == 0:
            return chosen
        left = without_errors(chosen, done.stdout)
        if len(left) == len(chosen):
            raise SystemExit(f"the copy does not build: {HERE}/build.log\n" + done.stdout[-3000:])
        print(f"{len(chosen) - len(left)} do not compile", flush=True)
        chosen = left


def without_errors(chosen, output):
    """The sites without an error in their lines; all sites of a file go where its errors are elsewhere."""
    errors = {(path, int(line)) for path, line in
              re.findall(rf"^(?:{re.escape(str(TREE))}/|(?:\.\./)+)(\S+?):(\d+):\d+: (?:fatal )?error:", output,
                         re.MULTILINE)}
    bad = [site for site in chosen
           if any(path == site["file"] and site["line"] <= line <= site["line"] + site["original"].count("\n")
                  for path, line in errors)]
    explained = {site["file"] for site in bad}
    return [site for site in chosen
            if site not in bad and (site["file"] in explained or all(site["file"] != path for path, _ in errors))]
