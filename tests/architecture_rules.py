"""The rules of ARCHITECTURE.md as functions: each takes a file's path and text and yields what is wrong with it.

Paths are relative to the root of the repository and use forward slashes. Nothing here reads a file, so that every rule
can be tried on planted text.
"""

import ast
import collections
import graphlib
import re

# Which other folders a folder may include; its own files it always may. The longest matching name is a file's folder
# here. No two folders stand in a circle: check_circles() holds both this table and the includes to that.
_TRACES = ["traces/base", "traces"]
_SEAM = ["traces/base", "sim/policy"]
_REPLAY = [*_TRACES, "sim/policy", "sim/engine", "sim/device", "sim/serving", "sim/facts"]
_RUN = [*_REPLAY, "sim/arbiter", "sim/workload"]
_POLICY = [*_SEAM, "policies", "policies/parts"]
_QUESTION = ["experiments/base", "experiments/statistics", "experiments/question/clients", "experiments/question"]
_EXPERIMENTS = [*_TRACES, "traces/native", "traces/exporters", *_QUESTION, "experiments/bands", "experiments/run",
                "experiments/results"]
_COMMANDS = [*_EXPERIMENTS, "experiments/commands", "policies"]
FOLDERS = {
    "traces/base": [],
    "traces": ["traces/base"],
    "traces/text": ["traces/base"],
    "traces/counters": [*_TRACES, "traces/text"],
    "traces/native": [*_TRACES, "traces/schema"],
    "traces/shell": ["traces/base"],
    "traces/parts": [*_TRACES, "traces/native"],
    "traces/exporters": [*_TRACES, "traces/text", "traces/schema"],
    "traces/importers": [*_TRACES, "traces/text", "traces/native", "traces/parts"],
    "traces/importers/chrome": [*_TRACES, "traces/text", "traces/importers"],
    "tracer/guest": ["traces/base", "traces/parts"],
    "tracer/preload": [],
    "tracer/frames": ["tracer/guest"],
    "tracer/cuda": ["traces/parts", "tracer/guest"],
    "tracer/gate/channel": ["tracer/guest"],
    "tracer/gate/driver": ["tracer/cuda", "tracer/preload", "tracer/gate/channel"],
    "tracer/gate/completion": ["tracer/guest", "tracer/cuda", "tracer/gate/channel", "tracer/gate/driver"],
    "tracer/gate/memory": ["tracer/guest", "tracer/gate/channel", "tracer/gate/driver"],
    "tracer/gate": ["tracer/guest", "tracer/cuda", "tracer/preload", "tracer/gate/channel", "tracer/gate/driver",
                    "tracer/gate/completion", "tracer/gate/memory"],
    "tracer/gl/calls": ["tracer/guest", "tracer/preload"],
    "tracer/gl": ["traces/parts", "tracer/guest", "tracer/frames", "tracer/preload", "tracer/gate", "tracer/gl/calls"],
    "tracer/vulkan": ["tracer/guest", "tracer/frames", "tracer/gate"],
    "tracer/record/host": ["traces/base"],
    "tracer/record/watch": [*_TRACES, "tracer/record/host"],
    "tracer/record": [*_TRACES, "traces/native", "traces/parts", "tracer/guest", "tracer/cuda", "tracer/record/host",
                      "tracer/record/watch"],
    "tracer/record/commands": [*_TRACES, "traces/shell", "traces/native", "traces/counters",
                               "tracer/guest", "tracer/record/host", "tracer/record"],
    "sim/policy": ["traces/base"],
    "sim/engine": ["traces/base"],
    "sim/device": _TRACES,
    "sim/device/spatial": ["traces/base", "sim/device"],
    "sim/device/model": [*_TRACES, "sim/device", "sim/device/spatial"],
    "sim/serving": ["traces/base", "sim/engine"],
    "sim/facts": [*_TRACES, "sim/policy", "sim/serving"],
    "sim/arbiter": [*_TRACES, "sim/policy", "sim/facts"],
    "sim/workload": [*_REPLAY, "traces/counters"],
    "sim/workload/capture": [*_TRACES, "traces/counters", "sim/device", "sim/serving", "sim/workload",
                             "sim/workload/capture/steps", "sim/workload/capture/host"],
    "sim/workload/capture/host": [*_TRACES, "sim/workload", "sim/workload/capture/steps"],
    "sim/workload/capture/steps": [*_TRACES, "sim/device", "sim/serving", "sim/workload"],
    "sim/workload/synthetic": ["traces/base", "sim/engine", "sim/serving", "sim/workload"],
    "sim/run": _RUN,
    "sim/metrics": ["traces/base", "sim/serving", "sim/facts", "sim/run"],
    "sim/solo": ["traces/base", "sim/device", "sim/serving", "sim/facts", "sim/workload", "sim/run"],
    "sim/cluster": ["traces/base", "sim/policy", "sim/engine", "sim/device", "sim/workload", "sim/run", "sim/metrics"],
    "sim/executor/host": ["traces/base"],
    "sim/executor/driver": ["traces/base"],
    "sim/executor/worker": ["traces/base", "sim/executor/host", "sim/executor/driver"],
    "sim/executor/device_time": ["traces/base", "sim/device", "sim/executor/host", "sim/executor/worker"],
    "sim/executor": [*_RUN, "sim/run", "sim/executor/host", "sim/executor/driver", "sim/executor/worker",
                     "sim/executor/device_time"],
    "sim/calibration/probes": ["traces/base", "sim/executor/host", "sim/executor/driver", "sim/executor/worker"],
    "sim/calibration/fits": [*_TRACES, "sim/device", "sim/calibration/probes"],
    "sim/calibration": ["traces/base", "sim/executor/host", "sim/calibration/probes"],
    "sim/live/client": [*_RUN, "sim/run", "sim/executor/host", "sim/executor/device_time", "tracer/gate/channel"],
    "sim/live/metrics": ["traces/base", "sim/policy", "sim/facts", "sim/run", "sim/metrics", "sim/executor/host"],
    "sim/live": [*_RUN, "sim/run", "sim/executor/host", "sim/live/client", "sim/live/metrics", "tracer/gate/channel"],
    "policies": _SEAM,
    "policies/parts": _SEAM,
    **{f"policies/{family}": _POLICY for family in ("baselines", "djay", "limits", "mechanisms", "nvshare", "pilotfish",
                                                    "placement", "rivals", "serving", "tgs", "xsched")},
    "policies/joint": [*_POLICY, "policies/djay", "policies/pilotfish"],
    "policies/example": ["sim/policy"],
    "experiments/base": ["traces/base"],
    "experiments/statistics": ["traces/base", "sim/engine"],
    "experiments/question/clients": ["traces/base", "experiments/base", "sim/serving", "sim/workload",
                                     "sim/workload/synthetic"],
    "experiments/question/overrides": ["traces/base", "experiments/base"],
    "experiments/question": [*_TRACES, "traces/text", "traces/importers", "sim/policy", "sim/engine", "sim/device",
                             "sim/arbiter", "sim/metrics", "sim/cluster", "experiments/base",
                             "experiments/question/clients", "experiments/question/overrides"],
    "experiments/bands": [*_TRACES, "traces/counters", "experiments/base", "experiments/question"],
    "experiments/run/clients": [*_TRACES, "traces/text", "traces/importers", "sim/engine", "sim/serving",
                                "sim/workload", "sim/workload/capture", "sim/solo", *_QUESTION],
    "experiments/run/notes": ["traces/base", "sim/workload", "sim/metrics", *_QUESTION, "experiments/bands",
                              "experiments/run/clients"],
    "experiments/run": [*_TRACES, "traces/native", *_RUN, "sim/workload/capture", "sim/run", "sim/metrics", "sim/solo",
                        "sim/cluster", "sim/executor/driver", "sim/executor", "sim/live", "policies", "policies/limits",
                        *_QUESTION, "experiments/bands", "experiments/run/clients", "experiments/run/notes"],
    "experiments/results": [*_TRACES, "traces/text", "traces/exporters", *_QUESTION, "experiments/bands",
                            "experiments/run"],
    "experiments/summary": ["traces/base", "sim/metrics", *_QUESTION, "experiments/bands", "experiments/run",
                            "experiments/results"],
    "experiments/report": ["traces/base", "sim/metrics", *_QUESTION, "experiments/bands", "experiments/results",
                           "experiments/summary"],
    "experiments/identify": ["traces/base", "sim/device", "sim/workload", "sim/workload/synthetic", "sim/metrics",
                             "policies", *_QUESTION, "experiments/run"],
    "experiments/validate/scoring": ["traces/base", "sim/metrics", *_QUESTION, "experiments/run"],
    "experiments/validate": ["traces/base", "experiments/validate/scoring", "experiments/summary", *_EXPERIMENTS],
    "experiments/advise/asked": ["traces/base", "sim/policy", "experiments/base", "experiments/question"],
    "experiments/advise/figures": ["traces/base", "sim/policy", "sim/metrics", "sim/serving", *_QUESTION,
                                   "experiments/bands", "experiments/run", "experiments/run/clients",
                                   "experiments/advise/asked"],
    "experiments/advise": ["traces/base", "sim/policy", "sim/metrics", *_QUESTION, "experiments/bands",
                           "experiments/run", "experiments/run/clients", "experiments/load",
                           "experiments/advise/asked", "experiments/advise/figures"],
    "experiments/fit": ["traces/base", "sim/policy", "sim/workload/capture", *_QUESTION, "experiments/bands",
                        "experiments/run", "experiments/run/clients", "experiments/advise", "experiments/advise/asked",
                        "experiments/advise/figures"],
    "experiments/load": ["traces/base", "sim/policy", "sim/serving", *_QUESTION, "experiments/bands",
                         "experiments/run"],
    "experiments/commands": [*_EXPERIMENTS, "traces/shell", "traces/counters", "sim/workload", "sim/workload/capture"],
    "experiments/commands/experiment": [*_COMMANDS, "experiments/summary", "experiments/advise",
                                        "experiments/advise/asked", "experiments/advise/figures",
                                        "experiments/fit", "experiments/load",
                                        "sim/serving", "sim/metrics"],
    "experiments/commands/hardware": [*_COMMANDS, "experiments/commands/experiment", "experiments/identify",
                                      "experiments/validate", "sim/calibration", "sim/calibration/fits",
                                      "sim/executor", "sim/executor/host", "sim/live", "sim/live/metrics"],
    "experiments/commands/policy": [*_COMMANDS, "policies/pilotfish"],
    "experiments/commands/results": [*_COMMANDS, "experiments/summary", "experiments/report", "sim/executor/host",
                                     "sim/metrics"],
    "python": [*_TRACES, "sim/policy", "sim/workload", "sim/metrics", "policies", *_QUESTION, "experiments/bands",
               "experiments/run", "experiments/results", "experiments/summary", "experiments/report",
               "experiments/advise", "experiments/fit"],
    "games/scene/world": [],
    "games/scene/drawing": ["games/scene/world"],
    "games/scene": ["games/scene/drawing", "games/scene/world"],
    "tests": None,
}
MOST_FILES = 24  # source files of one folder, those of its folders not counted

# Folders in which a run must be a pure function of its inputs.
PURE_FOLDERS = ("sim/policy/", "sim/engine/", "sim/device/", "sim/facts/", "sim/serving/", "sim/workload/",
                "sim/arbiter/", "sim/run/", "sim/solo/", "sim/metrics/", "policies/")
IMPURE_WORDS = re.compile(r"\b(system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday|random_device"
                          r"|(?:secure_)?getenv|\w*cuda\w*|cu[A-Z]\w*)\b", re.IGNORECASE)
CUDA_DRIVER_CALL = re.compile(r"cu[A-Z]")

# Headers that cost seconds of compile time: the files that may include them.
HEAVY_HEADERS = {
    "CLI/": ["experiments/", "games/", "tracer/record/", "traces/shell/"],
    "spdlog/": ["experiments/"],
    "yaml.h": ["experiments/"],
    "simdjson.h": ["traces/importers/", "sim/calibration/"],
    "SQLiteCpp/": ["traces/importers/", "experiments/", "python/"],
    "sqlite3.h": ["traces/importers/", "experiments/"],
    "google/protobuf/": ["traces/"],
    "traces/schema/trace.pb.h": ["traces/native/chunk", "tests/traces/"],
    "traces/schema/perfetto.pb.h": ["traces/exporters/"],
    "Eigen/": ["sim/device/", "policies/", "experiments/validate/"],
    "pybind11/": ["python/"],
    "rapidcheck": ["tests/"],
    "gtest/": ["tests/"],
}
HEADERS_WITH_HEAVY_ONES = {"traces/importers/sqlite_source.h"}

EMPTY_WORDS = {"Helper", "Helpers", "Util", "Utils", "Manager", "Impl", "Base", "Data", "Info"}
POLICY_BLOCK = ["Source:", "Hears:", "Needs:", "Decides:", "Parameters:", "Departs:"]
LONG_FILE = 500

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
TYPE_NAME = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?)\s+([A-Z]\w*)|\busing\s+([A-Z]\w*)\s*=")
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# Not where the daemon of MPS listens on every machine.
MACHINE_PATH = re.compile(r"(?<![\w.:/$}~-])(?!/tmp/nvidia-mps\b)/(?:home|root|work|tmp|Users|mnt)/[\w.$]")


def layer(path):
    """The longest folder of FOLDERS that holds `path`, or None."""
    holders = [folder for folder in FOLDERS if path.startswith(folder + "/")]
    return max(holders, key=len, default=None)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def includes(text):
    """(line, is quoted, name) of every include directive."""
    return [(line_of(text, found.start()), found[1] == '"', found[2]) for found in INCLUDE.finditer(text)]


def with_headers(path, direct):
    """The file and all that it includes, over however many others. `direct`: path -> what that file itself includes."""
    found, waiting = set(), [path]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += direct(name)
    return found


def code_only(text):
    """The text without comments, strings and characters; line breaks stay."""
    return NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)


def check_folders(path, text):
    """The folder graph: a folder includes only what FOLDERS lists for it."""
    allowed = FOLDERS.get(layer(path))
    for line, quoted, name in includes(text) if allowed is not None else []:
        if quoted and layer(name) not in [layer(path), *allowed]:
            yield f"{path}:{line}: {layer(path)} may not include {name} (allowed: {', '.join(allowed)})"


def folder_graph(texts):
    """folder -> folders that its files include, of the files in `texts` (path -> text) outside tests/."""
    graph = {}
    for path, text in texts.items():
        folder = path.rpartition("/")[0]
        if not path.startswith("tests/"):
            graph.setdefault(folder, set()).update(name.rpartition("/")[0]
                                                   for _, quoted, name in includes(text) if quoted)
    return {folder: others - {folder} for folder, others in graph.items()}


def python_graph(texts):
    """module of the package `corun` -> modules of it that it imports, anywhere in its text, of the files in `texts`. A
    name that is no module is one of the package itself. What only types are taken from is not imported."""
    paths = {path: re.sub(r"/__init__$", "", path.rpartition(".")[0].removeprefix("python/")).replace("/", ".")
             for path in texts if path.startswith("python/corun/") and path.endswith((".py", ".pyi"))}
    graph = {}
    for path, module in paths.items():
        imported = set()
        for node in nodes_that_run(ast.parse(texts[path]), has_types=path.endswith("__init__.py")):
            if isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                for name in (f"{node.module}.{alias.name}" for alias in node.names):
                    imported.add(name if name in paths.values() else node.module)
        graph.setdefault(module, set()).update(imported.intersection(paths.values()))
    return graph


def nodes_that_run(tree, has_types):
    """All nodes but those under `if TYPE_CHECKING:`, which stay with `has_types`: a package imports them when asked."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        is_of_types = isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING"
        if has_types or not is_of_types:
            yield from nodes_that_run(child, has_types)


def check_circles(graph):
    """No folder includes and no module imports, over however many others, itself. `graph`: name -> names."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as circle:
        yield "in a circle: " + " <- ".join(circle.args[1])


def check_sizes(paths):
    """No folder holds so many source files that it wants folders of its own."""
    counts = collections.Counter(path.rpartition("/")[0] for path in paths)
    for folder, count in counts.items():
        if count > MOST_FILES:
            yield f"{folder} holds {count} source files: group them by concept, at most {MOST_FILES} in a folder"


def check_includes_from_root(path, text, known_files):
    """Quoted includes are written from the root of the project and name a file that exists or is generated."""
    for line, quoted, name in includes(text):
        if quoted and name not in known_files and not name.endswith(".pb.h"):
            yield f"{path}:{line}: no file {name}: includes are written from the root of the project"


def check_purity(path, text):
    """No wall clock, environment, hardware randomness or CUDA where a run must be a pure function."""
    if not path.startswith(PURE_FOLDERS):
        return
    for line, _, name in includes(text):
        if re.search(r"cuda|cupti|nvml", name, re.IGNORECASE):
            yield f"{path}:{line}: {name} does not belong into {layer(path)}"
    code = code_only(INCLUDE.sub("", text))
    for found in IMPURE_WORDS.finditer(code):
        word = found[1]
        if not word.lower().startswith("cu") or "cuda" in word.lower() or CUDA_DRIVER_CALL.match(word):
            yield f"{path}:{line_of(code, found.start())}: {word} does not belong into {layer(path)}"


def check_heavy_headers(path, text):
    """Expensive headers stay in the .cpp files of the folders that need them."""
    for line, _, name in includes(text):
        places = next((places for heavy, places in HEAVY_HEADERS.items() if name.startswith(heavy)), None)
        if places is None or path.startswith("tests/"):
            continue
        if not path.startswith(tuple(places)):
            yield f"{path}:{line}: {name} belongs into {' or '.join(places)}"
        elif path.endswith(".h") and path not in HEADERS_WITH_HEAVY_ONES:
            yield f"{path}:{line}: {name} belongs into a .cpp file"


def check_names(path, text):
    """No type and no file is named by a word that says nothing."""
    stem = path.rsplit("/", 1)[-1].split(".")[0]
    for word in stem.split("_"):
        if word.capitalize() in EMPTY_WORDS:
            yield f"{path}: the file name says '{word}': name the concept"
    code = code_only(text)
    for found in TYPE_NAME.finditer(code):
        name = found[1] or found[2]
        empty = EMPTY_WORDS.intersection(re.findall(r"[A-Z][a-z0-9]*", name))
        if empty:
            yield f"{path}:{line_of(code, found.start())}: type {name} says '{empty.pop()}': name the concept"


def check_pragma_once(path, text):
    if path.endswith(".h") and "#pragma once\n" not in text:
        yield f"{path}: no #pragma once"


def check_policy_block(path, text):
    """A policy's file begins with a block of six headings in order (see CONTRIBUTING.md); the last has one form."""
    if not (path.startswith("policies/") and path.endswith(".cpp") and "public Policy" in text):
        return
    block = re.search(r"(?:^///[^\n]*\n)+", text, re.MULTILINE)
    lines = block[0] if block else ""
    if not re.match(r"/// \w[\w ]* - \S", lines):
        yield f"{path}: does not begin with '/// Name - the idea in one sentence.'"
    positions = [lines.find(heading) for heading in POLICY_BLOCK]
    missing = [heading for heading, position in zip(POLICY_BLOCK, positions) if position < 0]
    if missing:
        yield f"{path}: the block at the top lacks {', '.join(missing)}"
    elif positions != sorted(positions):
        yield f"{path}: the headings at the top are not in the order {', '.join(POLICY_BLOCK)}"
    elif not re.search(r"^/// Departs: +see deviations\n\Z", lines, re.MULTILINE):
        yield f"{path}: the block ends with 'Departs: see deviations': departures stand in the descriptor alone"


def check_machine_paths(path, text):
    """No path of a particular machine."""
    for found in MACHINE_PATH.finditer(text):
        shown = text[found.start():][:40].split()[0]
        yield f"{path}:{line_of(text, found.start())}: names a path of one machine: {shown}"


def check_unfinished(path, text):
    for found in re.finditer(r"\b(TODO|FIXME|XXX)\b", text):
        yield f"{path}:{line_of(text, found.start())}: {found[1]}: finish it or file an issue"


def is_long(text):
    return text.count("\n") > LONG_FILE


CODE_RULES = [check_folders, check_purity, check_heavy_headers, check_names, check_pragma_once, check_policy_block,
              check_unfinished]
TEXT_RULES = [check_machine_paths]
