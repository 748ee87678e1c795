#!/usr/bin/env python3
"""Draws the pictures of README.md and docs/ anew. No GPU, a minute; needs the package
(PYTHONPATH=build/release/python).

usage: pictures.py
"""

import pathlib
import re
import tempfile

import matplotlib

matplotlib.use("Agg")

import corun

ROOT = pathlib.Path(__file__).resolve().parents[1]


def save(axes, name):
    axes.figure.savefig(ROOT / "docs" / name, dpi=110, metadata={"Software": None})


def tutorial():
    """The figure of docs/tutorial.md, from the experiment that stands there."""
    text = re.search(r"```yaml tutorial\.yaml\n(.*?)```", (ROOT / "docs/tutorial.md").read_text(), re.DOTALL)[1]
    with corun.run(corun.Experiment(text, folder=ROOT)) as results:
        save(results.plot.frontier(x="train.throughput_per_s", y="fps_1low"), "tutorial.png")


def readme():
    """The picture of README.md: a tenth of a second of a game and a training job,
    without a policy and under PilotFish."""
    experiment = corun.Experiment(ROOT / "experiments/quickstart.yaml").set("record", {"operations": "all"})
    experiment = experiment.set("scenarios.pair.policies", ["passthrough", "pilotfish"])
    experiment = experiment.set("scenarios.four-players.policies", ["passthrough"])
    with corun.run(experiment, until="3s", seed=1) as results:
        figure, (above, below) = matplotlib.pyplot.subplots(2, 1, figsize=(9, 4.4), sharex=True,
                                                            constrained_layout=True, height_ratios=(3, 4))
        rates = results.summary("fps_mean").query("scenario == 'pair'").set_index("policy").value
        times = results.frame_times("pair", "passthrough", "openarena")
        late = times[(times.seed == times.seed.min()) & (times.frame_time_ns > 25e6) & (times.present_ns > 1e9)]
        begin = round(late.present_ns.iloc[0] / 1e9 - 0.05, 2)  # a late frame in the middle
        results.plot.timeline(begin, begin + 0.1, "passthrough", scenario="pair", ax=above).set(
            xlabel="", title=f"no policy: {rates['passthrough']:.0f} fps, some frames late (red)")
        results.plot.timeline(begin, begin + 0.1, "pilotfish", scenario="pair", ax=below).set(
            title=f"PilotFish: {rates['pilotfish']:.0f} fps, and the training runs between the frames")
        save(below, "sharing.png")


if __name__ == "__main__":
    tutorial()
    readme()
