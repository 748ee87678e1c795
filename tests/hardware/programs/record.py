"""Records the programs of this folder with simtrace, and writes down what is true of each (truth.jsonl).

    record.py --simtrace FILE --out FOLDER [--workers N] [--limit SECONDS] [--only NAME ...] [--kinds KIND ...]
              [--percentages P ...]

Each program runs bare first: its rate alone. Then it is recorded: `window` begins in the middle of its steps, `whole`
is all of it, with loading and warming up, `nvtx` has a range around each step, `rate_pass` has simtrace measure the
untraced rate itself; `kineto` is PyTorch's profiler instead. `--percentages 25 50` records windows of the kinds `sms25`
and `sms50` alone, under an MPS daemon that gives the program so many percent of the SMs. With --workers 3 programs load
side by side, of which one has the GPU (loop.py); rates alone then suffer. A program that fails costs its row only; its
last words are in FOLDER/NAME.log.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).parent
PROGRAMS = {
    "jax_programs.py": ["jax_matmul", "jax_conv", "jax_inference"],
    "torch_programs.py": ["hf_generate", "hf_decoder", "hf_prefill", "diffusion", "pyg_gcn", "triton", "torch_compile",
                          "two_graphs", "two_threads", "accumulation", "lengths", "timm", "loader"],
    "array_programs.py": ["cupy", "numba"],
    "more_jax_programs.py": ["jax_recurrent", "jax_particles", "jax_decoder"],
    "more_torch_programs.py": ["amp_finetune", "gan", "reinforcement", "recommender", "graph_batches", "spectra",
                               "translate", "reduced_overhead", "with_evaluation", "draw_pictures"],
    "more_array_programs.py": ["cupy_means", "numba_options"],
    "device_bound_programs.py": ["prompt_reading", "long_attention", "volume_filter", "wave_equation", "sorting",
                                 "embedding_training", "equations", "spectrum_filter"],
    "more_device_bound_programs.py": ["patch_reading", "word_writing", "clustering", "sparse_solver", "blurring",
                                      "option_prices", "counting", "wide_training"]}
SCRIPT = {name: script for script, names in PROGRAMS.items() for name in names}
RECORDED = {"window": list(SCRIPT), "nvtx": ["diffusion", "accumulation", "hf_prefill"],
            "kineto": ["accumulation", "accumulation:steps", "hf_prefill", "amp_finetune", "with_evaluation:steps"],
            "rate_pass": ["jax_matmul", "numba", "hf_prefill"], "whole": list(SCRIPT)}
LENGTH = {"hf_generate": 1.5, "jax_conv": 1.0, "diffusion": 1.0}  # seconds of a window; 0.6 otherwise
PATIENCE_S = 100


def percentage_of(kind):
    """Percentage of the SMs in a window `smsP`; None in all others."""
    return kind[3:] if kind.startswith("sms") else None


class Recorder:
    def __init__(self, options):
        self.options, self.truth, self.bare = options, [], {}
        self.daemon = {}
        self.out = options.out.resolve()
        self.is_bare_done = {program: threading.Event() for program in SCRIPT}
        self.until = time.monotonic() + options.limit
        self.out.mkdir(parents=True, exist_ok=True)

    def environment(self, label, kind):
        variables = dict(os.environ) | {"GPU_LOCK": str(self.out / "gpu.lock"), "PYTHONUNBUFFERED": "1",
                                        "STEP_FILE": str(self.out / f"{label}.steps.json")}
        variables |= self.daemon
        if percentage_of(kind):
            variables |= {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": percentage_of(kind)}
        if kind != "whole":
            variables |= {"JAX_COMPILATION_CACHE_DIR": str(self.out / "jax-cache"),
                          "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
        return variables

    def run(self, label, command, variables):
        begin = time.monotonic()
        with open(self.out / f"{label}.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(command, env=variables, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                       start_new_session=True)
            try:
                code = process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                code = "too slow"
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        steps = self.out / f"{label}.steps.json"
        facts = json.loads(steps.read_text(encoding="utf-8")) if steps.exists() else {}
        print(f"{label}: {code}, {time.monotonic() - begin:.1f} s, {facts.get('per_second')} /s", flush=True)
        return code, facts

    def one(self, kind, name):
        if time.monotonic() > self.until:
            self.is_bare_done[name.partition(":")[0]].set()
            return print(f"{kind} {name}: no time left", flush=True)
        program, _, variant = name.partition(":")
        label = f"{name.replace(':', '_')}.{kind}"
        command = [sys.executable, str(HERE / SCRIPT[program]), program]
        variables = self.environment(label, kind)
        recorder, output = [], self.out / f"{label}.corun"
        if kind == "kineto":
            output = self.out / f"{label}.json"
            command += ["--seconds", "0.2", "--profiler", str(output)] + ["--profiler-steps"] * bool(variant)
        elif kind != "bare":
            recorder = [str(self.options.simtrace), "record", "--json", "-o", str(output)]
            recorder += ["--rate-pass"] * (kind == "rate_pass") + ["--"]
        if kind in ("window", "nvtx") or percentage_of(kind):
            length = LENGTH.get(program, 0.6)
            self.is_bare_done[program].wait()
            delay = self.bare.get(program, {}).get("ready_s", 8) * (1.5 if percentage_of(kind) else 1) + 0.8
            variables["WINDOW"] = f"{delay},{length}"
            command += ["--seconds", str(length + 1.6)] + ["--nvtx"] * (kind == "nvtx")
        if kind in ("whole", "rate_pass"):
            command += ["--seconds", "0.5" if kind == "whole" else "1.0"]
        code, facts = self.run(label, recorder + command, variables)
        if kind == "bare":
            self.bare[program] = facts
            self.is_bare_done[program].set()
        elif output.exists():
            self.truth.append(self.row(kind, program, label, output, code, facts))

    def row(self, kind, program, label, output, code, facts):
        ends = facts.pop("step_ends_ns", [])
        inside = [e for e in ends if facts.get("from_ns", 0) <= e <= facts.get("until_ns", 1 << 62)]
        shown = " ".join([SCRIPT[program], program] + (["--nvtx"] if kind == "nvtx" else []))
        facts.pop("thread_ends_ns", None)
        return {"file": output.name, "program": program, "kind": kind, "command": shown,
                "steps_inside": len(inside) if ends else None, "first_step_end_ns": inside[0] if inside else None,
                "last_step_end_ns": inside[-1] if inside else None, "exit_code": code, "bytes": output.stat().st_size,
                "alone_per_second": self.bare.get(program, {}).get("per_second"),
                "traced_per_second": facts.get("per_second"), "facts": facts}

    def all(self):
        wanted = [("bare", name) for name in SCRIPT]
        recorded = {f"sms{p}": list(SCRIPT) for p in self.options.percentages} or RECORDED
        wanted += [(kind, name) for kind, names in recorded.items() for name in names]
        wanted = [(kind, name) for kind, name in wanted
                  if (not self.options.only or name.partition(":")[0] in self.options.only)
                  and (percentage_of(kind) or kind in ("bare", *self.options.kinds))]
        if self.options.workers == 1:
            wanted.sort(key=lambda item: list(SCRIPT).index(item[1].partition(":")[0]))
        with concurrent.futures.ThreadPoolExecutor(self.options.workers) as pool:
            for future in [pool.submit(self.one, kind, name) for kind, name in wanted]:
                try:
                    future.result()
                except Exception as error:  # the other programs count, too
                    print("failed:", repr(error), flush=True)
        with open(self.out / "truth.jsonl", "w", encoding="utf-8") as file:
            for row in sorted(self.truth, key=lambda row: row["file"]):
                file.write(json.dumps(row) + "\n")


    def all_under_mps(self):
        self.daemon = {"CUDA_MPS_PIPE_DIRECTORY": str(self.out / "pipe"), "CUDA_MPS_LOG_DIRECTORY": str(self.out)}
        (self.out / "pipe").mkdir(exist_ok=True)
        subprocess.run(["nvidia-cuda-mps-control", "-d"], env=os.environ | self.daemon, check=True)
        try:
            self.all()
        finally:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, env=os.environ | self.daemon,
                           check=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simtrace", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--workers", type=int, default=1, help="programs under way; of several, one has the GPU")
    parser.add_argument("--limit", type=float, default=1e9)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--kinds", nargs="*", default=list(RECORDED))
    parser.add_argument("--percentages", nargs="*", default=[])
    options = parser.parse_args()
    recorder = Recorder(options)
    if options.percentages:
        recorder.all_under_mps()
    else:
        recorder.all()


if __name__ == "__main__":
    main()
