"""servers/language/engine.py: batching, chunks, padding and slots change no token."""

import csv
import json
import pathlib
import random
import select
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")
from torch.nn import functional as F  # noqa: E402

SCRIPT = pathlib.Path(__file__).parents[2] / "servers" / "language" / "engine.py"
sys.path.insert(0, str(SCRIPT.parent))
import engine as serving  # noqa: E402
from batching import BATCHINGS, Request  # noqa: E402

SMALL = ["--model", "tiny", "--max-batch", "4", "--max-context", "128", "--chunk", "32", "--context-step", "32",
         "--smallest-prefill", "8"]
DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


def next_tokens(model, tokens):
    """Behind each token of one sequence, computed without cache and padding, as a paper would write the model."""
    shape, count = model.shape, len(tokens)
    x = model.words[torch.tensor(tokens, device=model.words.device)]
    angles = torch.arange(count, device=x.device)[:, None] * 10000.0 ** (
        -torch.arange(0, shape.head, 2, device=x.device) / shape.head)

    def turned(heads):
        even, odd = heads.chunk(2, -1)
        cosine, sine = angles.cos(), angles.sin()
        return torch.cat((even * cosine - odd * sine, odd * cosine + even * sine), -1)

    def normed(x):
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    for layer in model.layers:
        q, k, v = (part.unflatten(-1, (-1, shape.head)).transpose(0, 1) for part in
                   (normed(x) @ layer["qkv"].T).split((shape.width, *[shape.kv_heads * shape.head] * 2), -1))
        k, v = (part.repeat_interleave(shape.heads // shape.kv_heads, 0) for part in (turned(k), v))
        scores = turned(q) @ k.mT / shape.head ** 0.5
        future = torch.ones(count, count, device=x.device).triu(1).bool()
        x = x + (scores.masked_fill(future, float("-inf")).softmax(-1) @ v).transpose(0, 1).flatten(1) @ layer["out"].T
        gate, up = (normed(x) @ layer["gate_up"].T).chunk(2, -1)
        x = x + (F.silu(gate) * up) @ layer["down"].T
    return (normed(x) @ model.last.T).argmax(-1).tolist()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("ways", [["--batching", batching] for batching in BATCHINGS] + [
    ["--prefill-share", "50"], ["--prompts-per-step", "3"]], ids=[*BATCHINGS, "divided", "several"])
@torch.no_grad()
def test_served_tokens_are_those_of_each_request_computed_alone(ways, device):
    engine = serving.Engine(serving.parsed_options(["serve", "--orders", *SMALL, *ways, "--device", device]))
    chance = random.Random(5)
    requests = []
    for number in range(14):
        prompt = chance.choice([1, 3, 31, 32, 33, 64, 70, 100, 120])
        requests.append(Request(number, number * 3.0, prompt, chance.randrange(1, 129 - prompt)))
        engine.executor.admit(requests[-1])
    ticks = iter(range(10 ** 9))
    kind, works = (serving.DividedServer, engine.lanes) if engine.lanes else (serving.Server, engine.executor)
    server = kind(works, lambda: float(next(ticks)), serving.Standing())
    server.serve(engine.batcher(), requests, float("inf"))
    for request in requests:
        history = engine.executor.history[request]
        assert len(history) == request.prompt + request.output
        alone = next_tokens(engine.executor.model, history[:-1])
        assert history[request.prompt:] == alone[request.prompt - 1:], request
    batched = max(int(row[serving.STEP_COLUMNS.index("sequences")]) for row in server.steps)
    assert batched >= 4, "sequences were batched"


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_orders_are_served_one_after_the_other(tmp_path):
    (tmp_path / "requests.csv").write_text("arrival_s,prompt,output\n0,40,5\n0.1,10,1\n")
    orders = [{"requests": str(tmp_path / "requests.csv"), "out": str(tmp_path / name)} for name in ("a", "b")]
    said = subprocess.run([sys.executable, SCRIPT, "serve", "--orders", "--device", "cpu", *SMALL], check=True,
                          input="".join(json.dumps(order) + "\n" for order in orders), stdout=subprocess.PIPE,
                          text=True).stdout
    assert said.splitlines() == ["ready", f"served {tmp_path / 'a'}", f"served {tmp_path / 'b'}"]
    for name in ("a", "b"):
        first, second = rows(tmp_path / f"{name}.requests.csv")
        assert 0 < float(first["first_token_s"]) < float(first["end_s"])
        assert 0.1 < float(second["first_token_s"]) == float(second["end_s"])
        steps = rows(tmp_path / f"{name}.steps.csv")
        assert [(row["kind"], row["size"], row["context"]) for row in steps[:2]] == [("prefill", "32", "0"),
                                                                                    ("prefill", "8", "32")]


def test_serving_ends_after_the_seconds_asked_for(tmp_path):
    (tmp_path / "requests.csv").write_text("arrival_s,prompt,output\n0,40,5\n60,10,1\n")
    subprocess.run([sys.executable, SCRIPT, "serve", "--device", "cpu", *SMALL, "--requests", tmp_path / "requests.csv",
                    "--out", tmp_path / "a", "--seconds", "1"], check=True, timeout=50)
    first, second = rows(tmp_path / "a.requests.csv")
    assert first["end_s"] and not second["first_token_s"]


def test_a_go_file_is_waited_for_and_an_order_begins_when_it_says(tmp_path):
    (tmp_path / "requests.csv").write_text("arrival_s,prompt,output\n0,4,1\n")
    order = {"requests": str(tmp_path / "requests.csv"), "out": str(tmp_path / "a")}
    process = subprocess.Popen([sys.executable, SCRIPT, "serve", "--orders", "--go", tmp_path / "go", "--device", "cpu",
                                *SMALL], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(**more):
        process.stdin.write(json.dumps(order | more) + "\n")
        process.stdin.flush()
    try:
        assert process.stdout.readline() == "ready\n"
        send()
        assert select.select([process.stdout], [], [], 1)[0] == []
        (tmp_path / "go").touch()
        assert process.stdout.readline() == f"served {order['out']}\n"
        begin = time.monotonic() + 1
        send(begin_s=begin)
        assert process.stdout.readline() == f"served {order['out']}\n"
        assert time.monotonic() > begin
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("ways", [["--batching", batching] for batching in BATCHINGS] + [["--prompts-per-step", "4"]],
                         ids=[*BATCHINGS, "several"])
def test_the_grid_holds_every_size_as_often_as_asked_for(tmp_path, ways):
    options = ["grid", "--device", "cpu", *SMALL, *ways]
    subprocess.run([sys.executable, SCRIPT, *options, "--repeat", "3", "--out", tmp_path / "g"], check=True)
    sizes = serving.Engine(serving.parsed_options(options)).executor.keys
    steps = [(row["kind"], *(int(row[size]) for size in ("size", "context", "decodes", "decode_context", "prompts")))
             for row in rows(tmp_path / "g.steps.csv")]
    assert sorted(steps) == sorted(sizes * 3)
    assert all(steps[n] == steps[n + 1] == steps[n + 2] for n in range(0, len(steps), 3))
