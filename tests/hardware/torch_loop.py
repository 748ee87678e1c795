"""Training or inference loops in PyTorch: the programs of the tracer's captures and of its overhead table.

    torch_loop.py WORKLOAD [--steps N] [--seconds S] [--warm-up N] [--profiler FILE]
    torch_loop.py serve

Prints the median seconds per step as one JSON line. `serve` reads lines {"arguments": [...], "environment": {...}} and
runs each in a process of its own, one after the other, without importing PyTorch again: that takes longer than the
steps. `resnet50` trains ResNet-50 with batch 64 in fp32 (bound by the
GPU), `encoder` runs a 12-layer encoder with batch 1, `small_train` trains ResNet-50 on two small pictures (both bound
by the host). `gpt` trains a small decoder in tf32, `unet` segments pictures in fp16, `recommender` ranks with 26
tables, `lstm` trains two recurrent layers, `mixed` trains ResNet-50 in mixed precision; `vit` classifies pictures,
`mlp` trains wide layers, `products` multiplies large matrices, `stencil` solves an equation on a grid, `llm` makes a
token; `diffusion` removes noise from pictures, `gnn` trains over a graph of nodes, `speech` hears recordings, `filters`
transforms signals, `decoder` makes a token with small kernels; pairs.py runs them together. `graph_encoder`,
`graph_recommender`, `graph_llm` and `graph_decoder` launch each step as one CUDA graph. Every step ends with a wait for
the device.
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


def gpt():
    """A decoder of 8 layers, 512 wide, trained on 8 rows of 256 tokens."""
    torch.set_float32_matmul_precision("high")
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0, batch_first=True, norm_first=True)
    parts = nn.ModuleList([nn.Embedding(8192, 512), nn.TransformerEncoder(layer, 8, enable_nested_tensor=False),
                           nn.Linear(512, 8192)]).cuda()
    optimizer = torch.optim.AdamW(parts.parameters(), lr=1e-4)
    tokens = torch.randint(0, 8192, (8, 257), device="cuda")
    mask = nn.Transformer.generate_square_subsequent_mask(256, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        scores = parts[2](parts[1](parts[0](tokens[:, :-1]), mask=mask, is_causal=True))
        nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
    return step


def twice(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.ReLU(inplace=True),
                         nn.Conv2d(after, after, 3, padding=1), nn.ReLU(inplace=True))


class UNet(nn.Module):
    """Four levels down and up again, 32 channels at the top."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([twice(3, 32), twice(32, 64), twice(64, 128), twice(128, 256)])
        self.up = nn.ModuleList([twice(256 + 128, 128), twice(128 + 64, 64), twice(64 + 32, 32)])
        self.last = nn.Conv2d(32, 2, 1)

    def forward(self, x):
        kept = []
        for level in self.down:
            x = level(nn.functional.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        for level, skipped in zip(self.up, reversed(kept[:-1])):
            x = level(torch.cat([nn.functional.interpolate(x, scale_factor=2), skipped], 1))
        return self.last(x)


def unet():
    model = UNet().cuda().half().eval().to(memory_format=torch.channels_last)
    pictures = torch.randn(16, 3, 256, 256, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)

    def step():
        with torch.no_grad():
            model(pictures)
    return step


def recommender():
    tables = nn.ModuleList([nn.EmbeddingBag(20000, 64, mode="sum") for _ in range(26)]).cuda()
    bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU()).cuda()
    top = nn.Sequential(nn.Linear(27 * 64, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
    dense = torch.randn(1024, 13, device="cuda")
    sparse = torch.randint(0, 20000, (26, 1024, 4), device="cuda")

    def step():
        with torch.no_grad():
            top(torch.cat([bottom(dense)] + [table(rows) for table, rows in zip(tables, sparse)], 1)).sigmoid()
    return step


def lstm():
    parts = nn.ModuleList([nn.Embedding(4096, 512), nn.LSTM(512, 512, 2, batch_first=True),
                           nn.Linear(512, 4096)]).cuda()
    optimizer = torch.optim.SGD(parts.parameters(), lr=0.1)
    tokens = torch.randint(0, 4096, (32, 65), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        scores = parts[2](parts[1](parts[0](tokens[:, :-1]))[0])
        nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
    return step


def mixed():
    plain = training(resnet50(), 48, 192)

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            plain()
    return step


def vit():
    """A vision transformer of 12 layers, 768 wide, that looks at 32 pictures of 14 by 14 patches."""
    layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0, activation="gelu", batch_first=True, norm_first=True)
    parts = nn.ModuleList([nn.Conv2d(3, 768, 16, 16), nn.TransformerEncoder(layer, 12, enable_nested_tensor=False),
                           nn.Linear(768, 1000)]).cuda().half().eval()
    pictures = torch.randn(32, 3, 224, 224, device="cuda", dtype=torch.half)

    def step():
        with torch.no_grad():
            parts[2](parts[1](parts[0](pictures).flatten(2).transpose(1, 2)).mean(1))
    return step


def mlp():
    """Four wide layers, trained on 4096 rows in tf32: few, large products of matrices."""
    torch.set_float32_matmul_precision("high")
    model = nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(4096, 4096), nn.ReLU())]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    rows = torch.randn(4096, 4096, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(rows).square().mean().backward()
        optimizer.step()
    return step


def products():
    """Four products of matrices of 8192 by 8192 in tf32: few kernels, of milliseconds."""
    torch.set_float32_matmul_precision("high")
    left, right = torch.randn(8192, 8192, device="cuda"), torch.randn(8192, 8192, device="cuda")

    def step():
        for _ in range(4):
            torch.mm(left, right)
    return step


def stencil():
    """Heat on a grid of 4096 by 4096, ten instants a step: bound by memory."""
    grid = torch.rand(4096, 4096, device="cuda")

    def step():
        for _ in range(10):
            inside = grid[1:-1, 1:-1]
            inside += 0.1 * (grid[2:, 1:-1] + grid[:-2, 1:-1] + grid[1:-1, 2:] + grid[1:-1, :-2] - 4 * inside)
    return step


def llm():
    """One token for each of 8 texts of 512, by a decoder of 12 layers, 1024 wide, in half precision: all weights are
    read for little work."""
    layers, heads, width, past = 12, 16, 1024, 512
    options = {"device": "cuda", "dtype": torch.half}
    norms = [nn.LayerNorm(width, **options) for _ in range(2 * layers)]
    weights = [[nn.Linear(width, 3 * width, **options), nn.Linear(width, width, **options),
                nn.Linear(width, 4 * width, **options), nn.Linear(4 * width, width, **options)] for _ in range(layers)]
    words = nn.Linear(width, 32000, **options)
    kept = torch.randn(layers, 2, 8, heads, past, width // heads, **options)
    tokens = torch.randn(8, 1, width, **options)

    def step():
        with torch.no_grad():
            x = tokens
            for i, (mixed_in, mixed_out, up, down) in enumerate(weights):
                query, key, value = mixed_in(norms[2 * i](x)).view(8, 1, 3, heads, -1).permute(2, 0, 3, 1, 4)
                kept[i, 0, :, :, -1:], kept[i, 1, :, :, -1:] = key, value
                seen = nn.functional.scaled_dot_product_attention(query, kept[i, 0], kept[i, 1])
                x = x + mixed_out(seen.transpose(1, 2).reshape(8, 1, width))
                x = x + down(nn.functional.gelu(up(norms[2 * i + 1](x))))
            words(x).argmax(-1)
    return step


class Denoiser(nn.Module):
    """Three levels of convolutions, attention between words of a picture on the lower two."""

    def __init__(self, widths=(160, 320, 640)):
        super().__init__()
        self.first, self.last = nn.Conv2d(4, widths[0], 3, padding=1), nn.Conv2d(widths[0], 4, 3, padding=1)
        self.down = nn.ModuleList([nn.Conv2d(a, b, 3, 2, 1) for a, b in zip(widths, widths[1:])])
        self.up = nn.ModuleList([nn.Conv2d(b, a, 3, padding=1) for a, b in zip(widths, widths[1:])])
        self.blocks = nn.ModuleList([nn.Sequential(nn.GroupNorm(32, w), nn.SiLU(), nn.Conv2d(w, w, 3, padding=1))
                                     for w in widths])
        self.attention = nn.ModuleList([nn.MultiheadAttention(w, 8, batch_first=True) for w in widths[1:]])

    def seen(self, x, level):
        x = x + self.blocks[level](x)
        if level == 0:
            return x
        words = x.flatten(2).transpose(1, 2)
        return x + self.attention[level - 1](words, words, words,
                                             need_weights=False)[0].transpose(1, 2).reshape(x.shape)

    def forward(self, x):
        kept = [self.seen(self.first(x), 0)]
        for level, down in enumerate(self.down, 1):
            kept.append(self.seen(down(kept[-1]), level))
        x = kept.pop()
        for level, up in reversed(list(enumerate(self.up))):
            x = self.seen(up(nn.functional.interpolate(x, scale_factor=2)) + kept.pop(), level)
        return self.last(x)


def diffusion():
    """A step of removing noise from 8 pictures of 64 by 64, in half precision."""
    model = Denoiser().cuda().half().eval()
    pictures = torch.randn(8, 4, 64, 64, device="cuda", dtype=torch.half)

    def step():
        with torch.no_grad():
            model(pictures)
    return step


def gnn():
    """Three layers of a network over a graph of 200 000 nodes and two million edges, trained."""
    nodes, edges, width = 200_000, 2_000_000, 64
    begins, ends = (torch.randint(0, nodes, (edges,), device="cuda") for _ in range(2))
    features, layers = torch.randn(nodes, width,
                                   device="cuda"), nn.ModuleList([nn.Linear(2 * width, width) for _ in range(3)]).cuda()
    optimizer = torch.optim.Adam(layers.parameters())

    def step():
        optimizer.zero_grad(set_to_none=True)
        x = features
        for layer in layers:
            x = torch.relu(layer(torch.cat([x, torch.zeros_like(x).index_add_(0, ends, x[begins])], 1)))
        x.square().mean().backward()
        optimizer.step()
    return step


def speech():
    """An encoder of 12 layers, 768 wide, over 4 recordings of 1500 instants, in half precision."""
    layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0, activation="gelu", batch_first=True, norm_first=True)
    parts = nn.ModuleList([nn.Conv1d(80, 768, 3, padding=1), nn.Conv1d(768, 768, 3, 2, 1),
                           nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)]).cuda().half().eval()
    sound = torch.randn(4, 80, 3000, device="cuda", dtype=torch.half)

    def step():
        with torch.no_grad():
            heard = nn.functional.gelu(parts[1](nn.functional.gelu(parts[0](sound))))
            parts[2](heard.transpose(1, 2))
    return step


def filters():
    """256 signals of 2^16 numbers, filtered by Fourier transforms and cleaned."""
    signals = torch.randn(256, 1 << 16, device="cuda")
    band = torch.linspace(1, 0, (1 << 15) + 1, device="cuda")

    def step():
        clean = torch.fft.irfft(torch.fft.rfft(signals) * band)
        clean = clean - clean.mean(1, keepdim=True)
        torch.where(clean.abs() > clean.std(1, keepdim=True), clean, torch.zeros_like(clean)).cumsum(1)
    return step


def decoder():
    """One token for one text of 256, by six layers, 512 wide, in fp32: small kernels only."""
    layers, heads, width, past = 6, 8, 512, 256
    weights = [[nn.Linear(width, 3 * width).cuda(), nn.Linear(width, width).cuda(), nn.Linear(width, 4 * width).cuda(),
                nn.Linear(4 * width, width).cuda(), nn.LayerNorm(width).cuda(), nn.LayerNorm(width).cuda()]
               for _ in range(layers)]
    words, token = nn.Linear(width, 16000).cuda(), torch.randn(1, 1, width, device="cuda")
    kept = torch.randn(layers, 2, 1, heads, past, width // heads, device="cuda")

    def step():
        with torch.no_grad():
            x = token
            for i, (mixed_in, mixed_out, up, down, first, second) in enumerate(weights):
                query = mixed_in(first(x)).view(1, 1, 3, heads, -1).permute(2, 0, 3, 1, 4)[0]
                seen = nn.functional.scaled_dot_product_attention(query, kept[i, 0], kept[i, 1])
                x = x + mixed_out(seen.transpose(1, 2).reshape(1, 1, width))
                x = x + down(nn.functional.gelu(up(second(x))))
            words(x).argmax(-1)
    return step


def experts():
    """Eight experts, of which a router gives each of 8192 words two, in half precision."""
    width, count = 1024, 8
    router = nn.Linear(width, count).cuda().half()
    ups, downs = ([nn.Linear(a, b).cuda().half() for _ in range(count)]
                  for a, b in ((width, 4 * width), (4 * width, width)))
    words = torch.randn(8192, width, device="cuda", dtype=torch.half)

    def step():
        with torch.no_grad():
            weights, chosen = router(words).softmax(1).topk(2)
            order = chosen.flatten().argsort()
            gathered, result = words[order // 2].chunk(count), torch.zeros_like(words)
            parts = [down(nn.functional.silu(up(part))) for up, down, part in zip(ups, downs, gathered)]
            result.index_add_(0, order // 2, torch.cat(parts) * weights.flatten()[order].unsqueeze(1))
    return step


def translator():
    """Six layers, 512 wide, over 32 texts of 128 words, trained in half precision."""
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0, batch_first=True)
    model, words = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda(), nn.Linear(512, 16000).cuda()
    optimizer = torch.optim.AdamW([*model.parameters(), *words.parameters()], fused=True)
    text, target = torch.randn(32, 128, 512, device="cuda"), torch.randint(0, 16000, (32 * 128,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(words(model(text)).flatten(0, 1), target)
        loss.backward()
        optimizer.step()
    return step


def particles():
    """8192 bodies that attract one another, all pairs of them, in fp32."""
    places, speeds = torch.randn(8192, 3, device="cuda"), torch.zeros(8192, 3, device="cuda")

    def step():
        apart = places.unsqueeze(0) - places.unsqueeze(1)
        strength = (apart.square().sum(2) + 0.01).pow(-1.5)
        speeds.add_((apart * strength.unsqueeze(2)).sum(1), alpha=1e-9)
        places.add_(speeds, alpha=1e-3)
    return step


def detector():
    """A pyramid over 8 pictures of 512 by 512, in half precision, and the best thousand of its boxes."""
    def block(a, b, stride):
        return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU())
    body = nn.ModuleList([block(3, 32, 2), block(32, 64, 2), block(64, 128, 2), block(128, 256, 2), block(256, 256, 2)])
    side, boxes = nn.ModuleList([nn.Conv2d(n, 128, 1) for n in (128, 256, 256)]), nn.Conv2d(128, 5, 3, 1, 1)
    for part in (body, side, boxes):
        part.cuda().half().eval().to(memory_format=torch.channels_last)
    pictures = torch.randn(8, 3, 512, 512, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)

    def step():
        with torch.no_grad():
            x, found = pictures, []
            for layer in body:
                x = layer(x)
                found.append(x)
            flat = [boxes(one(level)).flatten(2) for one, level in zip(side, found[2:])]
            every = torch.cat(flat, 2)
            every.gather(2, every[:, :1].topk(1000, 2).indices.expand(-1, 5, -1))
    return step


def as_graph(step):
    """The same step, recorded once and launched as one graph."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):  # what a first step allocates must not be recorded
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


WORKLOADS = {"resnet50": lambda: training(resnet50(), 64, 224), "encoder": encoder,
             "small_train": lambda: training(resnet50(), 2, 64),
             "gpt": gpt, "unet": unet, "recommender": recommender, "lstm": lstm, "mixed": mixed,
             "vit": vit, "mlp": mlp, "products": products, "stencil": stencil, "llm": llm,
             "graph_llm": lambda: as_graph(llm()),
             "diffusion": diffusion, "gnn": gnn, "speech": speech, "filters": filters, "decoder": decoder,
             "graph_decoder": lambda: as_graph(decoder()),
             "experts": experts, "translator": translator, "particles": particles, "detector": detector,
             "graph_detector": lambda: as_graph(detector()),
             "graph_encoder": lambda: as_graph(encoder()), "graph_recommender": lambda: as_graph(recommender())}


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
