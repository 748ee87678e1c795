"""Stand-ins of engines that were never captured: files as PyTorch's profiler writes them, out of published times."""

import json

SMS = 132
DEVICE = {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "numSms": SMS, "regsPerMultiprocessor": 65536,
          "maxThreadsPerMultiprocessor": 2048, "sharedMemPerMultiprocessor": 233472}


class Capture:
    """One host thread and one stream; times in microseconds."""

    def __init__(self, blocks, threads):
        self.host, self.device, self.calls, self.events = 0.0, 0.0, 0, []
        self.shape = {"grid": [blocks, 1, 1], "block": [threads, 1, 1], "registers per thread": 32, "shared memory": 0}

    def work(self, time):
        self.host += time

    def launch(self, count, time, **shape):
        """`count` kernels behind one call, back to back; a graph if there are several."""
        self.calls += 1
        self._add("cuda_runtime", "cudaGraphLaunch" if count > 1 else "cudaLaunchKernel", self.host, 2.0,
                  correlation=self.calls)
        self.host += 2.0
        self.device = max(self.device, self.host)
        for number in range(count):
            node = {"graph node id": number + 1} if count > 1 else {}
            self._add("kernel", f"kernel {number % 10}", self.device, time, device=0, context=1, stream=7,
                      correlation=self.calls, **(self.shape | shape | node))
            self.device += time

    def wait(self):
        """Until the stream is empty."""
        self.calls += 1
        end = max(self.host + 1.0, self.device)
        self._add("cuda_runtime", "cudaStreamSynchronize", self.host, end - self.host, correlation=self.calls)
        self.host = end

    def mark(self, begin):
        self._add("user_annotation", "iteration", begin, self.host - begin - 0.01)

    def write(self, path):
        self.events.sort(key=lambda event: event["ts"])
        path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [DEVICE], "traceEvents": self.events}),
                        encoding="utf-8")

    def _add(self, category, name, begin, time, **arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": round(begin, 3),
                            "dur": round(time, 3), "args": arguments})


def spread(capture, host, device, pieces, kernels):
    """`kernels` in `pieces` launches, spread over the host's time: the first after the first part of it."""
    for _ in range(pieces):
        capture.work(host / pieces - 2.0)
        capture.launch(kernels // pieces, device / kernels)


def steps(capture, period, busy, shape, kernels):
    """A step: `serial` works, launches once and waits; `ahead` works a whole period while the device does; `pieces`
    launches kernel after kernel while it works."""
    device = busy * period
    if shape == "serial":
        spread(capture, period - device, device, 1, kernels)
    elif shape == "ahead":
        spread(capture, period, device, 1, kernels)
    else:
        spread(capture, period - device / kernels, device, kernels, kernels)
    if shape != "ahead":
        capture.wait()


def higgs(capture, period, busy, shape, facts):
    """Prefills that the loop waits for, then decodes: a wait for the graph before, preparation, the graph, the rest."""
    kernels, device = 36 * int(facts["layer_kernels"]), busy * period
    prefills, decodes = (1, 20) if facts["is_coalesced"] else (2, int(facts["decode_steps"]))
    decode = (1 - facts["prefill_host"]) * period / decodes
    prefill = facts["prefill_host"] * period / prefills
    preparation = facts["launch_part"] * decode
    graph = min(facts["decode_share"] * device / decodes, 0.95 * (decode - preparation))  # alone, no wait
    prefill_device = (device - decodes * graph) / prefills
    for _ in range(prefills):
        pieces = kernels if shape == "pieces" else 1
        spread(capture, prefill - (prefill_device if pieces == 1 else prefill_device / kernels), prefill_device, pieces,
               kernels)
        capture.wait()
    small = int(facts["small_operations"]) if shape == "pieces" else 0
    for _ in range(decodes):
        capture.wait()
        for _ in range(small):
            capture.work(preparation / (small + 1) - 2.0)
            capture.launch(1, 2.0, grid=[1, 1, 1])
            capture.wait()
        spread(capture, preparation / (small + 1), graph, 1, kernels)
        capture.work(decode - preparation)
