#!/usr/bin/env python3
"""A small server of a language model: continuous batching, a KV cache of slots, CUDA graphs. README.md has the formats.

    engine.py serve --model 1b --requests FILE --out PREFIX [--seconds S] [--go FILE]
    engine.py serve --model 1b --orders
    engine.py grid --model 1b [--repeat N] [--out PREFIX] [--go FILE | --wait]

`serve` serves the requests of a file and writes PREFIX.requests.csv and PREFIX.steps.csv. With --orders each line on
stdin is one such task, as JSON: {"requests": FILE, "out": PREFIX, "seconds": S, "begin_s": T}; serving begins at T of
CLOCK_MONOTONIC, at once without it. With --prefill-share P prompts are computed on P per cent of the SMs while
sequences are decoded on the others. `grid` runs every padded size N times in a row, sizes in a shuffled order, and
writes PREFIX.steps.csv. Both print "ready" once all is set up; then they wait for FILE (--go), for a line on stdin
(--wait), or for nothing.
"""

import argparse
import collections
import contextlib
import csv
import gc
import json
import mmap
import os
import pathlib
import random
import sys
import time

import torch

from arrivals import read_requests
from batching import BATCHINGS, Batcher, Request, Sizes
from divided_sms import divided
from model import SHAPES, Group, Model

STEP_COLUMNS = ["begin_s", "end_s", "kind", "size", "context", "decodes", "decode_context", "prompts", "sequences",
                "queue", "kv_tokens"]
REQUEST_COLUMNS = ["arrival_s", "first_token_s", "end_s", "prompt", "output"]


class Executor:
    """Computes the parts that a batcher decides: one CUDA graph for each size, or the model itself without a GPU.

    `history` has the tokens of each request, prompt and output."""

    def __init__(self, model, sizes, keys, history, stream=None):
        self.model, self.sizes, self.device = model, sizes, model.words.device
        self.keys, self.history = keys, history
        longest = max(sum(3 * b * n + 2 * b for b, n, _ in self.shapes(*key)) for key in self.keys)
        self.inputs = torch.zeros(longest, dtype=torch.int64, device=self.device)
        self.graphs, self.pool = {}, None
        if self.device.type == "cuda":
            torch.backends.cuda.enable_cudnn_sdp(False)  # it plans for each size, which makes the start longer
            self.stream = stream or torch.cuda.Stream()
            self.staged = torch.zeros_like(self.inputs, device="cpu", pin_memory=True)
            for key in reversed(self.keys):
                self.graphs[key] = self.captured(key)

    def shapes(self, kind, size, context, decodes, decode_context, prompts):
        """Of each group of a part: sequences, tokens of each, and how many tokens of a slot it looks at."""
        if kind == "decode":
            return [(size, 1, context)]
        prompt = (prompts, size // prompts, min(context + size // prompts, self.sizes.max_context))
        return [prompt] if kind == "prefill" else [prompt, (decodes, 1, decode_context)]

    def computed(self, key):
        """The model on the inputs as they lie, group after group: rows of tokens, positions and slots; slots to read;
        last tokens."""
        groups, begin = [], 0
        for b, n, length in self.shapes(*key):
            rows, end = begin + 3 * b * n, begin + 3 * b * n + 2 * b
            groups.append(Group(*self.inputs[begin:rows].view(3, b, n), *self.inputs[rows:end].view(2, b), length))
            begin = end
        return self.model.next_tokens(groups)

    def captured(self, key):
        self.inputs.zero_()
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            self.computed(key)  # libraries set themselves up outside of a capture
        torch.cuda.current_stream().wait_stream(self.stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool, stream=self.stream):
            result = self.computed(key)
        self.pool = graph.pool()
        return graph, result

    def warm_up(self, times=10):
        """Lets the device raise its clock before anything is measured."""
        if self.graphs:
            for _ in range(times):
                self.graphs[self.keys[-1]][0].replay()
            torch.cuda.synchronize()

    def admit(self, request):
        chance = random.Random(request.number)
        self.history[request] = [chance.randrange(self.model.shape.words) for _ in range(request.prompt)]

    def numbers(self, part):
        """The inputs of a part as one list."""
        numbers = self.prompt_numbers(part) if part.reads_prompt else []
        size = {"decode": part.size, "mixed": part.decodes, "prefill": 0}[part.kind]
        return numbers + self.decode_numbers(part.decoded, size)

    def prompt_numbers(self, part):
        scratch, length, tokens, positions, slots = self.sizes.max_batch, part.size // part.prompts, [], [], []
        missing = part.prompts - len(part.chunks)
        for request, count in part.chunks:
            begin, end, padding = request.computed, request.computed + count, [0] * (length - count)
            tokens += [*self.history[request][begin:end], *padding]
            positions += [*range(begin, end), *padding]
            slots += [*[request.slot] * count, *[scratch] * len(padding)]
        nothing = [0] * (missing * length)
        return [*tokens, *nothing, *positions, *nothing, *slots, *[scratch] * len(nothing),
                *[request.slot for request, _ in part.chunks], *[scratch] * missing,
                *[count - 1 for _, count in part.chunks], *[0] * missing]

    def decode_numbers(self, requests, size):
        padding = [0] * (size - len(requests))
        slots = [request.slot for request in requests] + [self.sizes.max_batch] * len(padding)
        return [*[self.history[request][-1] for request in requests], *padding,
                *[request.context - 1 for request in requests], *padding, *slots, *slots, *[0] * size]

    def launched(self, part):
        """Begins to compute the part on the present stream: where its tokens will be, of the prompt first."""
        numbers = self.numbers(part)
        if not self.graphs:
            self.inputs[:len(numbers)] = torch.tensor(numbers)
            return self.computed(part.key)
        self.staged[:len(numbers)] = torch.tensor(numbers)
        self.inputs[:len(numbers)].copy_(self.staged[:len(numbers)], non_blocking=True)
        graph, result = self.graphs[part.key]
        graph.replay()
        return result

    def run(self, part):
        """Computes the part and reads its tokens back."""
        tokens = self.launched(part).tolist()  # waits for the device
        return tokens[1:] if part.kind == "mixed" and not part.is_last_chunk else tokens

    def keep(self, receivers, tokens):
        for request, token in zip(receivers, tokens):
            self.history[request].append(token)


def nvtx(name, is_shown):
    return torch.cuda.nvtx.range(name) if is_shown else contextlib.nullcontext()


class Standing:
    """Says how a server stands in the file that CORUN_SERVER names, if any: when the oldest request came that has no
    token, in ns of CLOCK_MONOTONIC (0 = none), and how many parts have ended. A scheduler of launches reads it."""

    def __init__(self):
        self.ended, self.memory = 0, None
        if path := os.environ.get("CORUN_SERVER"):
            with open(path, "r+b") as file:
                self.memory = memoryview(mmap.mmap(file.fileno(), 16)).cast("q")

    def say(self, waited_s):
        """`waited_s`: of that request; None = there is none."""
        if self.memory:
            self.memory[0] = 0 if waited_s is None else time.monotonic_ns() - int(1e9 * waited_s)
            self.memory[1] = self.ended


class Server:
    """Runs a batcher's parts one after the other, each with its range, and notes when they ran."""

    def __init__(self, executor, clock, standing):
        self.executor, self.clock, self.standing, self.steps = executor, clock, standing, []

    def say(self, batcher):
        oldest = batcher.oldest
        self.standing.say(None if oldest is None else self.clock() - oldest.arrival_s)

    def run(self, batcher, part, then):
        """One part and, inside its range, all host work up to the next one: `then()`, whose result it returns."""
        with nvtx(part.name, self.executor.graphs):
            begin = self.clock()
            tokens = self.executor.run(part)
            end = self.clock()
            self.executor.keep(batcher.finish(part, end), tokens)
            self.standing.ended += 1
            self.say(batcher)
            self.steps.append([f"{begin:.6f}", f"{end:.6f}", *part.key, len(part.requests), part.queue,
                               part.kv_tokens])
            return then()

    def serve(self, batcher, requests, seconds):
        """Requests as they arrive, up to the last or for so many seconds."""
        coming = collections.deque(requests)

        def scheduled():
            now = self.clock()
            while coming and coming[0].arrival_s <= now:
                batcher.arrive(coming.popleft())
            self.say(batcher)
            return batcher.next_part() if now < seconds else None

        while True:
            part = scheduled()
            while part:
                part = self.run(batcher, part, scheduled)
            if not coming or coming[0].arrival_s > seconds or self.clock() >= seconds:
                return
            time.sleep(max(0, coming[0].arrival_s - self.clock()))


class Lane:
    """Parts of one kind, one after the other, on a stream of its own."""

    def __init__(self, kind, executor):
        self.kind, self.executor, self.part, self.begin_s = kind, executor, None, 0
        if executor.graphs:
            self.ended = torch.cuda.Event()
            self.tokens = torch.zeros(executor.sizes.max_batch, dtype=torch.int64, pin_memory=True)

    def begin(self, part, now_s):
        self.part, self.begin_s = part, now_s
        with torch.cuda.stream(self.executor.stream) if self.executor.graphs else contextlib.nullcontext():
            result = self.executor.launched(part)
            if not self.executor.graphs:
                self.tokens = result
                return
            self.tokens[:len(result)].copy_(result, non_blocking=True)
            self.ended.record()

    @property
    def has_ended(self):
        return self.part is not None and (not self.executor.graphs or self.ended.query())


class DividedServer(Server):
    """Runs prefills and decodes at the same time, and notes when they ran."""

    def __init__(self, lanes, clock, standing):
        super().__init__(lanes[0].executor, clock, standing)
        self.lanes = lanes

    def serve(self, batcher, requests, seconds):
        coming = collections.deque(requests)
        while True:
            now = self.clock()
            while coming and coming[0].arrival_s <= now:
                batcher.arrive(coming.popleft())
            for lane in self.lanes:
                if lane.has_ended:
                    self.end(lane, batcher)
                if lane.part is None and now < seconds and (part := batcher.next_of(lane.kind)):
                    lane.begin(part, self.clock())
            if any(lane.part for lane in self.lanes):
                continue
            if not coming or coming[0].arrival_s > seconds or now >= seconds:
                return
            time.sleep(max(0, coming[0].arrival_s - self.clock()))

    def end(self, lane, batcher):
        part, end, lane.part = lane.part, self.clock(), None
        self.executor.keep(batcher.finish(part, end), lane.tokens[:part.size].tolist())
        self.standing.ended += 1
        self.say(batcher)
        self.steps.append([f"{lane.begin_s:.6f}", f"{end:.6f}", *part.key, len(part.requests), part.queue,
                           part.kv_tokens])


class Engine:
    def __init__(self, options):
        self.options, self.standing = options, Standing()
        self.sizes = Sizes(options.max_batch, options.max_context, options.chunk, options.context_step,
                           options.smallest_prefill, options.prompts_per_step)
        model = Model(SHAPES[options.model], options.max_batch, options.max_context, torch.device(options.device),
                      torch.float32 if options.model == "tiny" else torch.bfloat16)
        keys = self.sizes.all(options.batching)
        with torch.no_grad():
            self.lanes = self.divided(model, keys) if options.prefill_share else []
            self.executor = self.lanes[0].executor if self.lanes else Executor(model, self.sizes, keys, {})

    def divided(self, model, keys):
        """The lanes of prefills and of decodes, with the same requests; without a GPU on the same processors."""
        streams, history = [None, None], {}
        if self.options.device == "cuda":
            torch.cuda.synchronize()
            parts = divided(self.options.prefill_share / 100)
            print("SMs of prompts and of decodes:", *(sms for _, sms in parts), file=sys.stderr, flush=True)
            streams = [torch.cuda.ExternalStream(stream) for stream, _ in parts]
        return [Lane(kind, Executor(model, self.sizes, [key for key in keys if key[0] == kind], history, stream))
                for kind, stream in zip(("prefill", "decode"), streams)]

    def batcher(self):
        return Batcher(self.sizes, self.options.batching, self.options.kv_tokens)

    def started_server(self, begin_s=None):
        """With a clock that is zero at `begin_s` of CLOCK_MONOTONIC, or now."""
        began = time.perf_counter() if begin_s is None else begin_s
        time.sleep(max(0, began - time.perf_counter()))

        def clock():
            return time.perf_counter() - began

        if self.lanes:
            return DividedServer(self.lanes, clock, self.standing)
        return Server(self.executor, clock, self.standing)

    @torch.no_grad()
    def serve(self, requests, out, seconds=None, begin_s=None):
        longest = min(self.options.max_context, self.options.kv_tokens)
        made = [Request(number, *row) for number, row in enumerate(read_requests(requests, longest))]
        for request in made:
            self.executor.admit(request)
        server = self.started_server(begin_s)
        server.serve(self.batcher(), made, float("inf") if seconds is None else seconds)
        self.executor.history.clear()
        write(f"{out}.steps.csv", STEP_COLUMNS, server.steps)
        write(f"{out}.requests.csv", REQUEST_COLUMNS,
              [[r.arrival_s, shown(r.first_token_s), shown(r.end_s), r.prompt, r.output] for r in made])

    @torch.no_grad()
    def grid(self, repeat, out):
        """Every size `repeat` times in a row: a batcher's own parts, of requests that fill the size."""
        order = random.Random(1).sample(self.executor.keys, len(self.executor.keys))
        server = self.started_server()
        self.executor.warm_up()
        for key in order:
            for batcher, times in self.filled(*key, repeat):
                for _ in range(times):
                    server.run(batcher, batcher.next_part(), lambda: None)
        self.executor.history.clear()
        if out:
            write(f"{out}.steps.csv", STEP_COLUMNS, server.steps)

    def filled(self, kind, size, context, decodes, decode_context, prompts, repeat):
        """(a batcher, how many of its next parts have the given size), `repeat` in all."""
        if prompts > 1:
            return [(self.with_prompts(prompts, size // prompts), 1) for _ in range(repeat)]
        if kind == "decode":
            batcher = self.batcher()
            self.let_run(batcher, size, context - repeat, repeat + 1)
            return [(batcher, repeat)]
        batchers = []
        for number in range(repeat):
            tokens, begin = self.placed(min(size, self.options.chunk - decodes), context)
            request = Request(decodes + number, 0, begin + tokens, 1, slot=decodes, computed=begin)
            self.executor.admit(request)
            batcher = self.batcher()
            self.let_run(batcher, decodes, decode_context - 1, 2)
            batcher.prefilling, batcher.reserved = request, batcher.reserved + request.prompt + 1
            batchers.append((batcher, 1))
        return batchers

    def with_prompts(self, count, tokens):
        """A batcher for which so many whole prompts wait."""
        batcher = self.batcher()
        for number in range(count):
            request = Request(number, 0, tokens, 1)
            self.executor.admit(request)
            batcher.arrive(request)
        return batcher

    def placed(self, tokens, context):
        """So many tokens of a prompt, or fewer at the end of a slot, and where they begin."""
        least = max(0, context - self.sizes.context_step + 1)  # what is padded to the context
        begin = max(least, min(context, self.sizes.max_context - tokens))
        return min(tokens, self.sizes.max_context - begin), begin

    def let_run(self, batcher, count, prompt, output):
        """So many sequences of a batcher have got their first token."""
        requests = [Request(n, 0, prompt, output, slot=n, given=1) for n in range(count)]
        for request in requests:
            self.executor.admit(request)
        batcher.running, batcher.reserved = requests, count * (prompt + output)


def shown(seconds):
    return "" if seconds is None else f"{seconds:.6f}"


def write(path, columns, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows(rows)


def say_ready(options):
    print("ready", flush=True)
    if options.wait:
        sys.stdin.readline()
    while options.go and not options.go.exists():
        time.sleep(0.001)


def parsed_options(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["serve", "grid"])
    parser.add_argument("--model", choices=SHAPES, required=True)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: without graphs")
    parser.add_argument("--batching", choices=BATCHINGS, default="chunked")
    parser.add_argument("--prefill-share", type=float, default=0, metavar="P",
                        help="compute prompts on P per cent of the SMs while the others decode")
    parser.add_argument("--max-batch", type=int, default=32, help="sequences that run")
    parser.add_argument("--max-context", type=int, default=2048, help="tokens of one sequence")
    parser.add_argument("--chunk", type=int, default=512, help="tokens of a prompt computed at once")
    parser.add_argument("--prompts-per-step", type=int, default=1, help="whole prompts that a prefill computes at once")
    parser.add_argument("--kv-tokens", type=int, help="KV capacity; default: that of all slots")
    parser.add_argument("--context-step", type=int, default=512, help="the smallest padded context")
    parser.add_argument("--smallest-prefill", type=int, default=64, help="the smallest padded chunk")
    parser.add_argument("--requests", type=pathlib.Path)
    parser.add_argument("--out", help="beginning of the names of the results")
    parser.add_argument("--seconds", type=float, help="serve so long; default: until all requests have ended")
    parser.add_argument("--orders", action="store_true", help="serve what lines on stdin say")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--go", type=pathlib.Path, metavar="FILE", help="begin once FILE exists")
    parser.add_argument("--wait", action="store_true", help="begin after a line on stdin")
    options = parser.parse_args(arguments)
    options.kv_tokens = options.kv_tokens or options.max_batch * options.max_context
    if options.prefill_share and (options.what == "grid" or options.batching == "mixed"):
        parser.error("--prefill-share is for serving, and its parts are not mixed")
    if not 1 <= options.prompts_per_step <= options.max_batch or (
            options.prompts_per_step > 1 and options.batching == "mixed"):
        parser.error("--prompts-per-step is at most --max-batch, and 1 with --batching mixed")
    if options.what == "serve" and not options.orders and not (options.requests and options.out):
        parser.error("serve needs --requests and --out, or --orders")
    return options


def main():
    options = parsed_options()
    engine = Engine(options)
    gc.freeze()  # a collection that looks at all of PyTorch takes as long as many steps
    say_ready(options)
    if options.what == "grid":
        return engine.grid(options.repeat, options.out)
    if not options.orders:
        try:
            return engine.serve(options.requests, options.out, options.seconds)
        except (OSError, ValueError) as error:
            sys.exit(f"engine.py: {error}")
    for line in sys.stdin:
        order = json.loads(line)
        engine.serve(**order)
        print("served", order["out"], flush=True)


if __name__ == "__main__":
    main()
