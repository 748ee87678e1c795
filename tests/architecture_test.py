"""Holds the tree to the rules of ARCHITECTURE.md, and the rules to their word by planting violations."""

import os
import pathlib
import re
import sys
import unittest
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import architecture_rules as rules  # noqa: E402

ROOT = pathlib.Path(__file__).parent.parent
SKIPPED_FOLDERS = {"build", "__pycache__"}
SKIPPED_AT_ROOT = {"results"}  # what experiments write
SOURCES = (".h", ".cpp", ".cpp.in", ".cu", ".py", ".js", ".proto")
CHECKS = {"tests/architecture_rules.py", "tests/architecture_test.py"}  # they name what they look for


def texts():
    """path -> text of every text file of the tree, but for hidden and generated folders."""
    found = {}
    for folder, folders, names in os.walk(ROOT):
        skipped = SKIPPED_FOLDERS | (SKIPPED_AT_ROOT if folder == str(ROOT) else set())
        folders[:] = sorted(name for name in folders if name not in skipped and not name.startswith("."))
        for name in sorted(set(names) - {".git"}):  # of a linked worktree, a file that names the repository
            file = pathlib.Path(folder, name)
            try:
                found[file.relative_to(ROOT).as_posix()] = file.read_text(encoding="utf-8")
            except (UnicodeDecodeError, FileNotFoundError):
                continue
    return found


def is_code(path):
    return path.endswith((".h", ".cpp", ".cu"))


class TheTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = texts()
        cls.code = {path: text for path, text in cls.texts.items() if is_code(path)}

    def assert_clean(self, complaints):
        complaints = list(complaints)
        self.assertFalse(complaints, "\n" + "\n".join(complaints))

    def test_has_code_to_look_at(self):
        self.assertGreater(len(self.code), 50)
        self.assertIn("sim/policy/policy.h", self.code)

    def test_every_folder_with_code_has_a_layer(self):
        self.assert_clean(f"{path}: add its folder to FOLDERS" for path in self.code if rules.layer(path) is None)

    def test_no_folders_stand_in_a_circle(self):
        self.assert_clean(rules.check_circles(rules.folder_graph(self.code)))
        self.assert_clean(rules.check_circles({folder: allowed or [] for folder, allowed in rules.FOLDERS.items()}))

    def test_no_modules_of_the_package_import_each_other(self):
        graph = rules.python_graph(self.texts)
        self.assertIn("corun.results", graph["corun"])
        self.assert_clean(rules.check_circles(graph))

    def test_no_folder_is_a_heap(self):
        self.assert_clean(rules.check_sizes(path for path in self.texts if path.endswith(SOURCES)))

    def test_a_policy_outside_the_project_finds_all_headers_installed(self):
        installed = set(re.findall(r"\$\{PROJECT_SOURCE_DIR\}/(\S+\.h)", self.texts["packaging/CMakeLists.txt"]))
        example = "policies/example/least_served.cpp"
        needed = rules.with_headers(
            example, lambda path: [name for _, quoted, name in rules.includes(self.code[path]) if quoted])
        self.assertEqual(needed - installed, {example})

    def test_includes_are_written_from_the_root(self):
        for path, text in self.code.items():
            with self.subTest(path):
                self.assert_clean(rules.check_includes_from_root(path, text, self.code))

    def test_code_keeps_the_rules(self):
        for rule in rules.CODE_RULES:
            with self.subTest(rule.__name__):
                self.assert_clean(complaint for path, text in self.code.items() for complaint in rule(path, text))

    def test_no_file_names_a_path_of_one_machine(self):
        self.assert_clean(complaint for path, text in self.texts.items() if path not in CHECKS
                          for rule in rules.TEXT_RULES for complaint in rule(path, text))

    def test_reports_long_files(self):
        for path, text in self.code.items():
            if rules.is_long(text):
                warnings.warn(f"{path} has {text.count(chr(10))} lines: look for the second concept")


class TheRules(unittest.TestCase):
    """Each rule sees a planted violation and leaves good text alone."""

    def sees(self, rule, *arguments):
        self.assertTrue(list(rule(*arguments)), f"{rule.__name__} overlooks {arguments}")

    def accepts(self, rule, *arguments):
        self.assertEqual(list(rule(*arguments)), [])

    def test_policies_see_the_seam_and_nothing_else(self):
        self.sees(rules.check_folders, "policies/mine.cpp", '#include "sim/engine/engine.h"\n')
        self.sees(rules.check_folders, "policies/mine.cpp", '#  include "traces/timeline.h"\n')
        self.sees(rules.check_folders, "policies/mine.cpp", '#include "sim/engine/random.h"\n')
        self.accepts(rules.check_folders, "policies/mine.cpp",
                     '#include <map>\n#include "sim/policy/policy.h"\n#include "traces/base/time.h"\n')

    def test_the_simulator_never_names_a_policy(self):
        for path in ("sim/run/simulate.cpp", "sim/arbiter/arbiter.cpp", "sim/policy/descriptor.cpp"):
            self.sees(rules.check_folders, path, '#include "policies/builtin.h"\n')

    def test_captures_know_nothing_of_the_simulator(self):
        self.sees(rules.check_folders, "traces/timeline.cpp", '#include "sim/run/run.h"\n')
        self.sees(rules.check_folders, "traces/timeline.cpp", '#include "traces/importers/importers.h"\n')
        self.sees(rules.check_folders, "traces/base/error.h", '#include "traces/timeline.h"\n')

    def test_device_and_engine_do_not_know_each_other(self):
        self.sees(rules.check_folders, "sim/device/device.cpp", '#include "sim/engine/engine.h"\n')
        self.sees(rules.check_folders, "sim/engine/engine.cpp", '#include "sim/device/model/device.h"\n')

    def test_two_folders_may_not_include_each_other(self):
        there, back = {"sim/a/x.h": '#include "sim/b/y.h"\n'}, {"sim/b/y.h": '#include "sim/a/x.h"\n'}
        self.accepts(rules.check_circles, rules.folder_graph(there))
        self.sees(rules.check_circles, rules.folder_graph({**there, **back}))

    def test_two_modules_may_not_import_each_other_even_inside_functions(self):
        there = {"python/corun/a.py": "from corun.b import c\n", "python/corun/b.py": "import json\n"}
        self.accepts(rules.check_circles, rules.python_graph(there))
        for text in ("def c():\n    from corun.a import d\n", "from corun import a\n", "import corun.a\n"):
            self.sees(rules.check_circles, rules.python_graph({**there, "python/corun/b.py": text}))
        types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from corun.a import d\n"
        self.accepts(rules.check_circles, rules.python_graph({**there, "python/corun/b.py": types}))
        package = {"python/corun/__init__.py": "from corun.a import d\n",
                   "python/corun/a.py": "def d():\n    import corun\n"}
        self.sees(rules.check_circles, rules.python_graph(package))

    def test_a_folder_of_twenty_five_files_is_too_many(self):
        names = [f"sim/a/{number}.cpp" for number in range(25)]
        self.sees(rules.check_sizes, names)
        self.accepts(rules.check_sizes, names[1:] + ["sim/a/b/0.cpp"])

    def test_tests_may_include_anything(self):
        self.accepts(rules.check_folders, "tests/sim/x_test.cpp", '#include "policies/builtin.h"\n')

    def test_an_include_must_exist_from_the_root(self):
        self.sees(rules.check_includes_from_root, "sim/a.cpp", '#include "a.h"\n', {"sim/a.h"})
        self.accepts(rules.check_includes_from_root, "sim/a.cpp", '#include "sim/a.h"\n', {"sim/a.h"})

    def test_no_wall_clock_environment_or_cuda_in_pure_folders(self):
        for text in ("auto t = std::chrono::steady_clock::now();", "std::getenv(name)", "cudaStream_t s;", "cuInit(0);",
                     "int my_cuda_count;", "std::random_device seed;", "#include <cuda.h>"):
            self.sees(rules.check_purity, "sim/engine/engine.cpp", text)
            self.sees(rules.check_purity, "policies/mine.cpp", text)
            self.accepts(rules.check_purity, "experiments/run/runner.cpp", text)

    def test_comments_strings_and_other_words_may_say_cuda(self):
        for text in ("// what steady_clock would say, as in CUDA", 'f("cudaMalloc");', "int current = cut(cursor);",
                     "/* getenv\n */", "bool is_custom;"):
            self.accepts(rules.check_purity, "sim/device/device.cpp", text)

    def test_the_line_of_a_complaint_is_right(self):
        complaint, = rules.check_purity("policies/mine.cpp", "// one\n/* two\nthree */\ngetenv(x);\n")
        self.assertTrue(complaint.startswith("policies/mine.cpp:4:"), complaint)

    def test_heavy_headers_stay_in_their_files(self):
        self.sees(rules.check_heavy_headers, "sim/run.cpp", "#include <CLI/CLI.hpp>\n")
        self.sees(rules.check_heavy_headers, "experiments/run/plan.h", "#include <yaml.h>\n")
        self.sees(rules.check_heavy_headers, "traces/native/native.cpp", '#include "traces/schema/trace.pb.h"\n')
        self.accepts(rules.check_heavy_headers, "experiments/commands/simcli.cpp", "#include <CLI/CLI.hpp>\n")

    def test_names_that_say_nothing(self):
        for text in ("class RunManager {", "struct TraceInfo;", "enum class DataKind", "using QueueImpl = int;"):
            self.sees(rules.check_names, "sim/run/run.h", text)
        self.sees(rules.check_names, "sim/string_util.h", "")
        self.accepts(rules.check_names, "sim/metrics/collector.h", "struct SoloBaseline; class Database;")

    def test_headers_are_guarded(self):
        self.sees(rules.check_pragma_once, "sim/a.h", "int f();\n")

    def test_a_policy_file_begins_with_its_block(self):
        body = "\nclass Mine : public Policy {};\n"
        lines = {heading: f"/// {heading} x\n" for heading in rules.POLICY_BLOCK} | {
            "Departs:": "/// Departs:     see deviations\n"}
        whole = "".join(lines.values())
        self.accepts(rules.check_policy_block, "policies/mine.cpp", "/// Mine - idea.\n" + whole + body)
        self.accepts(rules.check_policy_block, "policies/djay/knapsack.cpp", "int f();\n")
        self.sees(rules.check_policy_block, "policies/mine.cpp", body)
        self.sees(rules.check_policy_block, "policies/mine.cpp", whole + body)
        for heading in rules.POLICY_BLOCK:
            lacking = whole.replace(lines[heading], "")
            self.sees(rules.check_policy_block, "policies/mine.cpp", "/// Mine - idea.\n" + lacking + body)
        for departs in ("none known", "1. It has no lock.", "see deviations\n///              2. It has no lock."):
            listed = whole.replace("see deviations", departs)
            self.sees(rules.check_policy_block, "policies/mine.cpp", "/// Mine - idea.\n" + listed + body)

    def test_paths_of_one_machine(self):
        for text in ("see /ho" + "me/ann/x", 'open("/tm' + 'p/x")', "(/ro" + "ot/a)"):
            self.sees(rules.check_machine_paths, "README.md", text)
        for text in ("/usr/bin/python3", "build/tmp/x", "src/home/x", "https://example.com/home/x", "/tmp"):
            self.accepts(rules.check_machine_paths, "README.md", text)

    def test_unfinished_work(self):
        self.sees(rules.check_unfinished, "sim/a.cpp", "// TO" + "DO later")


if __name__ == "__main__":
    unittest.main()
