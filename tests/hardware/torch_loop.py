"""Training or inference loops in PyTorch: the programs of the tracer's captures and of its overhead table.

    torch_loop.py WORKLOAD [--steps N] [--seconds S] [--warm-up N] [--profiler FILE]
    torch_loop.py serve

Prints the median seconds per step as one JSON line. `serve` reads lines {"arguments": [...], "environment": {...}} and
runs each in a process of its own, one after the other, without importing PyTorch again: that takes longer than the steps.
 `resnet50` trains ResNet-50 with batch 64 in fp32 (bound by the
GPU), `encoder` runs a 12-layer encoder with batch 1, `small_train` trains ResNet-50 on two small pictures (both bound
by the host). Every step ends with a wait for the device.
"""

import argparse
import json
import os
import statistics
import sys
import time

import torch
from torch import nn


def bottleneck(inside, outside, stride, first):
    layers = nn.Sequential(
        nn.Conv2d(first, inside, 1, bias=False), nn.BatchNorm2d(inside), nn.ReLU(inplace=True),
        nn.Conv2d(inside, inside, 3, stride, 1, bias=False), nn.BatchNorm2d(inside), nn.ReLU(inplace=True),
        nn.Conv2d(inside, outside, 1, bias=False), nn.BatchNorm2d(outside))
    same = stride == 1 and first == outside
    shortcut = nn.Identity() if same else nn.Sequential(nn.Conv2d(first, outside, 1, stride, bias=False),
                                                        nn.BatchNorm2d(outside))
    return layers, shortcut


class Residual(nn.Module):
    def __init__(self, *arguments):
        super().__init__()
        self.layers, self.shortcut = bottleneck(*arguments)

    def forward(self, x):
        return torch.relu(self.layers(x) + self.shortcut(x))


def resnet50():
    blocks, before = [], 64
    for inside, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            blocks.append(Residual(inside, 4 * inside, stride if i == 0 else 1, before))
            before = 4 * inside
    return nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                         nn.MaxPool2d(3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def training(model, batch, size):
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(batch, 3, size, size, device="cuda")
    labels = torch.randint(0, 1000, (batch,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    return step


def encoder():
    layer = nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True)
    model = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).cuda().eval()
    tokens = torch.randn(1, 128, 768, device="cuda")

    def step():
        with torch.no_grad():
            model(tokens)
    return step


WORKLOADS = {"resnet50": lambda: training(resnet50(), 64, 224), "encoder": encoder,
             "small_train": lambda: training(resnet50(), 2, 64)}


def timed_steps(step, steps, seconds):
    times, begin = [], time.perf_counter()
    while len(times) < steps or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return times


def device_work(trace):
    """Kernels, and microseconds of kernels, copies and memsets, in a file that PyTorch's profiler wrote."""
    with open(trace, encoding="utf-8") as file:
        events = [event for event in json.load(file)["traceEvents"]
                  if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    return {"kernels": sum(event["cat"] == "kernel" for event in events),
            "busy_us": sum(event["dur"] for event in events)}


def serve():
    for line in sys.stdin:
        work = json.loads(line)
        child = os.fork()
        if child == 0:
            os.environ.update(work["environment"])
            return main(work["arguments"])
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(f"ended {status}", flush=True)


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--profiler", metavar="FILE", help="run the steps under PyTorch's profiler; write its trace")
    options = parser.parse_args(arguments)
    torch.manual_seed(1)
    step = WORKLOADS[options.workload]()
    timed_steps(step, options.warm_up, 0)
    answer = {"workload": options.workload}
    begin = time.perf_counter()
    answer["began_monotonic_ns"] = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    if options.profiler:
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            times = timed_steps(step, options.steps, options.seconds)
        profile.export_chrome_trace(options.profiler)
        answer |= device_work(options.profiler)
    else:
        times = timed_steps(step, options.steps, options.seconds)
    answer["ended_monotonic_ns"] = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    answer |= {"steps": len(times), "median_s": statistics.median(times), "mean_s": statistics.mean(times),
               "per_second": len(times) / (time.perf_counter() - begin)}
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main(sys.argv[1:])
