import subprocess

import pytest

import corun
from built_package import CAPTURE, PACKAGE, PAIR, ROOT

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")

SIMCLI = PACKAGE.parent / "simcli"


def simcli(*arguments):
    return subprocess.run([SIMCLI, *arguments], capture_output=True, text=True, timeout=60)


def refused(source, **options):
    with pytest.raises(corun.InputError) as raised:
        corun.Experiment(source, **options).check()
    return raised.value


@pytest.mark.skipif(not SIMCLI.exists(), reason="simcli is not built beside the package")
@pytest.mark.parametrize("old, new", [("quantum: 100ms", "quantums: 100ms"), ("policies:", "polices:"),
                                      ("synthetic: { kernels: { duration: 1ms, count: 10 } }", "trace: absent.corun")])
def test_what_is_wrong_reads_as_simcli_says_it(tmp_path, old, new):
    path = tmp_path / "wrong.yaml"
    path.write_text(PAIR.read_text().replace(old, new))
    said = simcli("check", path)
    assert said.returncode == 2
    error = refused(path)
    assert str(error) == said.stderr.strip("\n")
    assert (error.file, error.line > 0, error.column > 0) == (str(path), True, True)


def test_everything_that_is_wrong_is_told_with_its_place():
    error = refused("name: x\nhorizon: 5\npolicies: [pilotfisch]\nclients: [{ name: a, synthetic: { game: fable } }]\n"
                    "device: h200\n")
    assert [(found["line"], found["column"]) for found in error.diagnostics] == [(2, 10), (3, 12)]
    assert error.diagnostics[1]["label"] == "did you mean `pilotfish`?"
    assert "3 | policies: [pilotfisch]" in str(error)


def test_errors_in_text_show_the_line_also_when_found_after_reading():
    error = refused("name: x\ndevice: h200\nclients: [{ name: a, trace: absent.corun }]\npolicies: [passthrough]\n")
    assert error.file == "<text>" and error.line == 3
    assert "3 | clients: [{ name: a, trace: absent.corun }]" in str(error)


def test_a_dict_is_the_same_experiment_as_its_yaml():
    as_dict = {"name": "pair", "device": "h200", "horizon": "2s", "seeds": 2,
               "clients": [{"name": "game", "synthetic": {"game": {"gpu": "4ms", "cv": 0.1}}, "pacing": "60fps",
                            "duration_jitter": "5%"},
                           {"name": "train", "synthetic": {"kernels": {"duration": "1ms", "count": 10}}}],
               "policies": ["passthrough", {"nvshare": {"quantum": "100ms", "gate_frames": True}}]}
    assert corun.Experiment(as_dict).plan() == corun.Experiment(PAIR).plan()
    assert corun.Experiment(PAIR.read_text()).plan() == corun.Experiment(PAIR).plan()


def test_relative_paths_of_text_begin_at_the_folder():
    text = f"name: x\nclients: [{{ name: a, trace: {CAPTURE.name} }}]\npolicies: [passthrough]\ndevice: h200\n"
    assert corun.Experiment(text, folder=CAPTURE.parent).check().name == "x"
    assert "absent" in str(refused(text.replace(CAPTURE.name, "absent"), folder=CAPTURE.parent))


def test_set_leaves_the_experiment_as_it_was():
    experiment = corun.Experiment(PAIR)
    changed = experiment.set("policies.nvshare.quantum", "50ms").set("seeds", [4, 5])
    assert [run["seed"] for run in changed.plan()] == [4, 5, 4, 5]
    assert changed.plan()[2]["parameters"]["quantum"] == "50ms"
    assert [run["seed"] for run in experiment.plan()] == [1, 2, 1, 2]


def test_set_says_what_is_wrong_with_the_value():
    with pytest.raises(corun.InputError, match="a duration needs a unit") as raised:
        corun.Experiment(PAIR).set("policies.nvshare.quantum", 100)
    assert (raised.value.line, raised.value.column) == (1, 26)


def test_other_sources_are_refused(tmp_path):
    with pytest.raises(corun.InputError, match="No such file"):
        corun.Experiment(tmp_path / "absent.yaml")
    with pytest.raises(corun.InputError, match="not JSON serializable"):
        corun.Experiment({"name": object()})
    with pytest.raises(corun.InputError, match="`folder` is for text"):
        corun.Experiment(PAIR, folder=ROOT)


def test_a_client_with_nothing_to_replay_is_refused():
    with pytest.raises(corun.UnsupportedError, match="nothing to replay"):
        corun.Experiment("name: x\nclients: [{ name: a, command: [ls] }]\npolicies: [passthrough]\ndevice: h200\n")


PLUGIN = """
#include "sim/policy/descriptor.h"

class Open : public corun::Policy {
  void decide(const corun::GpuView& view, corun::Actions& actions) override {
    for (const corun::ClientView& client : view.clients)
      if (client.is_present && !client.gate_is_open) actions.open(client.id);
  }
};

static corun::PolicyDescriptor describe() {
  corun::PolicyDescriptor descriptor;
  descriptor.name = "open";
  descriptor.defaults();  // a function that whoever loads this must have
  descriptor.create = [](const corun::Parameters&) { return std::make_unique<Open>(); };
  return descriptor;
}

extern "C" const corun::PolicyPlugin* corun_policy_plugin() {
  static const corun::PolicyPlugin plugin{sizeof(corun::PolicyPlugin), corun::PolicyPlugin::kAbi, &describe};
  return &plugin;
}
"""


def test_policies_in_shared_libraries_run(tmp_path):
    (tmp_path / "open.cpp").write_text(PLUGIN)
    subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", f"-I{ROOT}", "-DFMT_HEADER_ONLY", "open.cpp", "-o",
                    "open.so"],
                   cwd=tmp_path, check=True)
    experiment = corun.Experiment(PAIR).set("policies",
                                            ["passthrough", {"plugin": {"file": str(tmp_path / "open.so")}}])
    results = corun.run(experiment, until="200ms", seed=1)
    fps = results.samples("fps_mean")
    assert fps["pair", "open", "game", "fps_mean", "fps"] == fps["pair", "passthrough", "game", "fps_mean", "fps"]
