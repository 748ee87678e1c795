"""Programs in PyTorch and what is built on it: Transformers, timm, PyG, Triton.

    torch_programs.py NAME [options of loop.py]

A library is imported by the workload that needs it.
"""

import contextlib
import random
import threading

import loop
import torch
from torch import nn


@contextlib.contextmanager
def ranged(name):
    torch.cuda.nvtx.range_push(name)
    yield
    torch.cuda.nvtx.range_pop()


@contextlib.contextmanager
def profiled(path):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        yield profile
    profile.export_chrome_trace(path)


def hf_generate(run):
    """A Llama of random weights makes 64 tokens for each prompt, by generate() and its cache of keys and values."""
    from transformers import LlamaConfig, LlamaForCausalLM
    config = LlamaConfig(vocab_size=8000, hidden_size=512, intermediate_size=1376, num_hidden_layers=4,
                         num_attention_heads=8, num_key_value_heads=4, max_position_embeddings=512)
    model = LlamaForCausalLM(config).half().cuda().eval()

    def step():
        prompt = torch.randint(3, 8000, (1, 32), device="cuda")
        with torch.no_grad():
            tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=64,
                                    min_new_tokens=64, do_sample=False, pad_token_id=0)
        tokens.cpu()
    run.run(step, warm_up=3, step_is="one prompt of 64 tokens", tokens_per_step=64)


def hf_decoder(run):
    """The same in a loop of the program's own: GPT-2 of random weights; a token is a step, 64 of them a text."""
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config(vocab_size=8000, n_embd=512, n_layer=4, n_head=8)).cuda().eval()
    state = {"token": 64, "cache": None, "last": None}

    def step():
        if state["token"] == 64:
            state.update(token=0, cache=None, last=torch.randint(0, 8000, (4, 24), device="cuda"))
        with torch.no_grad():
            answer = model(state["last"], past_key_values=state["cache"], use_cache=True)
        last = answer.logits[:, -1:].argmax(-1)
        state.update(token=state["token"] + 1, cache=answer.past_key_values, last=last)
        last.tolist()
    run.run(step, warm_up=192, step_is="one token; 64 make a text", texts_of=64)


def hf_prefill(run):
    """A BERT of random weights looks at 8 texts of 128 words."""
    from transformers import BertConfig, BertModel
    model = BertModel(BertConfig(num_hidden_layers=6)).half().cuda().eval()
    words = torch.randint(0, 30000, (8, 128), device="cuda")

    def step():
        with torch.no_grad(), run.range("encode"):
            model(words).pooler_output.cpu()
    run.run(step, step_is="one batch")


def denoiser(width):
    def block(a, b):
        return nn.Sequential(nn.GroupNorm(8, a), nn.SiLU(), nn.Conv2d(a, b, 3, padding=1))
    return nn.ModuleDict({"first": nn.Conv2d(4, width, 3, padding=1), "down": block(width, 2 * width),
                          "middle": block(2 * width, 2 * width), "up": block(2 * width, width),
                          "last": nn.Conv2d(width, 4, 3, padding=1), "time": nn.Linear(64, 2 * width)})


def diffusion(run):
    """Removes noise from four pictures in 20 steps, then decodes them: the loop of a diffusion pipeline."""
    net = denoiser(128).half().cuda().eval()
    decode = nn.Sequential(nn.Conv2d(4, 64, 3, padding=1), nn.SiLU(), nn.Upsample(scale_factor=4),
                           nn.Conv2d(64, 3, 3, padding=1)).half().cuda().eval()
    frequencies = torch.exp(torch.arange(32, device="cuda") * -0.3).half()

    def predict(x, instant):
        angles = instant * frequencies
        times = net["time"](torch.cat([angles.sin(), angles.cos()]))[None, :, None, None]
        h = net["first"](x)
        m = net["down"](nn.functional.avg_pool2d(h, 2)) + times
        m = m + net["middle"](m)
        return net["last"](net["up"](nn.functional.interpolate(m, scale_factor=2)) + h)

    def step():
        with torch.no_grad():
            x = torch.randn(4, 4, 64, 64, device="cuda", dtype=torch.half)
            for instant in range(20):
                with run.range("denoise"):
                    noise = predict(x, instant / 20)
                    x = (x - 0.05 * noise) * 0.99 + 0.01 * torch.randn_like(x)
            with run.range("decode"):
                decode(x).clamp(-1, 1).cpu()
    run.run(step, warm_up=5, step_is="one batch of pictures: 20 steps of removing noise and a decoding", parts=20)


def pyg_gcn(run):
    """Two graph convolutions over 20 000 nodes and 200 000 edges, trained; every epoch reads its loss."""
    from torch_geometric.nn import GCNConv
    edges = torch.randint(0, 20_000, (2, 200_000), device="cuda")
    features = torch.randn(20_000, 64, device="cuda")
    labels = torch.randint(0, 7, (20_000,), device="cuda")
    layers = nn.ModuleList([GCNConv(64, 64), GCNConv(64, 7)]).cuda()
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        hidden = nn.functional.dropout(layers[0](features, edges).relu(), 0.5)
        loss = nn.functional.cross_entropy(layers[1](hidden, edges), labels)
        loss.backward()
        optimizer.step()
        loss.item()
    run.run(step, step_is="one epoch")


def triton_kernels(run):
    """Two kernels in Triton, a softmax and a scaled sum, four times a step; every fourth step waits."""
    import triton_kernels as kernels
    rows, other = torch.randn(4096, 1024, device="cuda"), torch.randn(4096, 1024, device="cuda")
    out, count = torch.empty_like(rows), 0

    def step():
        nonlocal count
        for _ in range(4):
            kernels.softmax(rows, out)
            kernels.add(out, other, rows)
        count += 1
        if count % 4 == 0:
            torch.cuda.synchronize()
    run.run(step, step_is="eight launches; every fourth step waits")


def encoder_layer(width, dropout=0.0):
    return nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=dropout, batch_first=True)


def compiled(run):
    """A small encoder, compiled by torch.compile, trained; every tenth step reads the loss."""
    model = nn.Sequential(*[encoder_layer(256) for _ in range(2)], nn.Linear(256, 256)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    fast, x, count = torch.compile(model), torch.randn(16, 64, 256, device="cuda"), 0

    def step():
        nonlocal count
        optimizer.zero_grad(set_to_none=True)
        loss = (fast(x) - x).square().mean()
        loss.backward()
        optimizer.step()
        count += 1
        if count % 10 == 0:
            loss.item()
    run.run(step, step_is="one training step; every tenth reads the loss")


def graph_of(step):
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside), torch.no_grad():
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        step()
    return graph


def two_graphs(run):
    """Two CUDA graphs in turns, an encoder's and a net's of convolutions; a step is one of each and a wait."""
    encoder, words = encoder_layer(512).half().cuda().eval(), torch.randn(8, 128, 512, device="cuda").half()
    net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU()).half().cuda()
    pictures = torch.randn(8, 3, 64, 64, device="cuda").half()
    graphs = [graph_of(lambda: encoder(words)), graph_of(lambda: net(pictures))]

    def step():
        for graph in graphs:
            graph.replay()
        torch.cuda.synchronize()
    run.run(step, step_is="both graphs")


def two_threads(run):
    """Two threads, each with a model and a stream of its own: products of matrices, and a net of convolutions."""
    first = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).half().cuda().eval()
    second = nn.Sequential(*[nn.Conv2d(32, 32, 3, padding=1) for _ in range(6)]).half().cuda().eval()
    rows, pictures = torch.randn(512, 1024).half().cuda(), torch.randn(4, 32, 64, 64).half().cuda()
    ends, until_ns = {"products": [], "convolutions": []}, run.until_ns(1 + run.options.seconds)

    def work(name, model, data):
        with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
            while loop.now_ns() < until_ns:
                model(data).sum().item()
                ends[name].append(loop.now_ns())

    threads = [threading.Thread(target=work, args=arguments)
               for arguments in (("products", first, rows), ("convolutions", second, pictures))]
    begin_ns = loop.now_ns()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    steady = {name: [end for end in times if end > begin_ns + 1e9] for name, times in ends.items()}
    rates = {name: (len(times) - 1) / (times[-1] - times[0]) * 1e9 for name, times in steady.items()}
    run.ends = sorted(end for times in ends.values() for end in times)
    run.say({"step_is": "a model's call, of either thread", "per_second_of": rates, "per_second": sum(rates.values()),
             "ready_s": (begin_ns - run.began_ns) / 1e9 + 1, "steps": sum(map(len, steady.values())),
             "thread_ends_ns": ends})


def accumulation(run):
    """A step of four micro-batches whose gradients add up, then the optimizer; the loss is read."""
    model = nn.Sequential(nn.Linear(1024, 2048), nn.GELU(), nn.Linear(2048, 1024), nn.GELU(), nn.Linear(1024, 10))
    model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    rows, labels = torch.randn(4, 256, 1024, device="cuda"), torch.randint(0, 10, (4, 256), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for micro in range(4):
            with run.range("micro"):
                loss = nn.functional.cross_entropy(model(rows[micro]), labels[micro]) / 4
                loss.backward()
                total = total + loss.detach()
        with run.range("optimizer"):
            optimizer.step()
        total.item()
    run.run(step, step_is="four micro-batches and the optimizer", micro_batches=4)


def lengths(run):
    """An encoder over texts of random lengths, one after the other: no two steps have the same shapes."""
    model, chance = nn.Sequential(*[encoder_layer(512) for _ in range(4)]).cuda().half().eval(), random.Random(1)

    def step():
        text = torch.randn(4, chance.randint(16, 512), 512, device="cuda", dtype=torch.half)
        with torch.no_grad():
            model(text).mean(1).cpu()
    run.run(step, warm_up=60, step_is="one batch of a random length")


def timm_model(run):
    """EfficientNet-B0 of timm with random weights over 16 pictures."""
    import timm
    model = timm.create_model("efficientnet_b0", pretrained=False).cuda().eval()
    pictures = torch.randn(16, 3, 224, 224, device="cuda")

    def step():
        with torch.no_grad():
            model(pictures).argmax(1).cpu()
    run.run(step, step_is="one batch")


def loader(run):
    """A net of convolutions trained on pictures that are copied to the device one batch ahead, on a stream aside."""
    model = nn.Sequential(nn.Conv2d(3, 64, 3, 2), nn.ReLU(), nn.Conv2d(64, 128, 3, 2), nn.ReLU(), nn.Flatten(1, -1),
                          nn.LazyLinear(10)).cuda()
    host = [torch.randn(32, 3, 64, 64).pin_memory() for _ in range(4)]
    labels, aside = torch.randint(0, 10, (32,), device="cuda"), torch.cuda.Stream()
    model(host[0].cuda())
    optimizer, state = torch.optim.SGD(model.parameters(), 0.01), {"step": 0, "next": host[0].cuda()}

    def step():
        torch.cuda.current_stream().wait_stream(aside)
        pictures = state["next"]
        with torch.cuda.stream(aside):
            state["next"] = host[state["step"] % 4].to("cuda", non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(pictures), labels).backward()
        optimizer.step()
        state["step"] += 1
        if state["step"] % 50 == 0:
            torch.cuda.synchronize()
    run.run(step, step_is="one training step; every fiftieth waits")


if __name__ == "__main__":
    loop.Loop({"hf_generate": hf_generate, "hf_decoder": hf_decoder, "hf_prefill": hf_prefill, "diffusion": diffusion,
               "pyg_gcn": pyg_gcn, "triton": triton_kernels, "torch_compile": compiled, "two_graphs": two_graphs,
               "two_threads": two_threads, "accumulation": accumulation, "lengths": lengths, "timm": timm_model,
               "loader": loader}, torch.cuda.synchronize, ranged, profiled,
              {"hf_generate": ["transformers.models.llama.modeling_llama"], "timm": ["timm"], "triton": ["triton"],
               "hf_decoder": ["transformers.models.gpt2.modeling_gpt2"], "pyg_gcn": ["torch_geometric.nn"],
               "hf_prefill": ["transformers.models.bert.modeling_bert"], "torch_compile": ["torch._dynamo"]})
