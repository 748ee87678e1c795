"""More programs in PyTorch, written after the search for steps and recorded once, to test it blind.

    more_torch_programs.py NAME [options of loop.py]
"""

import random

import loop
import torch
from torch import nn
from torch_programs import encoder_layer, profiled, ranged


def amp_finetune(run):
    """BERT of random weights, fine-tuned in mixed precision with a scaler, clipped gradients and a schedule."""
    from transformers import BertConfig, BertForSequenceClassification
    model = BertForSequenceClassification(BertConfig(num_hidden_layers=4, hidden_size=256, num_attention_heads=4,
                                                     intermediate_size=1024)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 100)
    scaler = torch.amp.GradScaler("cuda")
    words, labels = torch.randint(0, 30000, (16, 96), device="cuda"), torch.randint(0, 2, (16,), device="cuda")

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16):
            loss = model(words, labels=labels).loss
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
    run.run(step, step_is="one training step; the scaler looks at the gradients of each")


def gan(run):
    """A generator and a discriminator, each with an optimizer of its own; a step trains both, and nothing waits."""
    maker = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 784)).cuda()
    judge = nn.Sequential(nn.Linear(784, 512), nn.LeakyReLU(), nn.Linear(512, 1)).cuda()
    of_maker, of_judge = (torch.optim.Adam(net.parameters(), 2e-4) for net in (maker, judge))
    real, count = torch.randn(256, 784, device="cuda"), 0

    def step():
        nonlocal count
        false = maker(torch.randn(256, 128, device="cuda"))
        of_judge.zero_grad()
        (judge(false.detach()).sigmoid().mean() - judge(real).sigmoid().mean()).backward()
        of_judge.step()
        of_maker.zero_grad()
        (-judge(false).sigmoid().mean()).backward()
        of_maker.step()
        count += 1
        if count % 100 == 0:
            torch.cuda.synchronize()
    run.run(step, step_is="one update of both nets; every hundredth waits")


def reinforcement(run):
    """A policy plays 16 moves of a game on the host, an answer of the device for each, then is trained once."""
    policy = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 8)).cuda()
    optimizer, chance = torch.optim.Adam(policy.parameters()), random.Random(1)

    def step():
        seen, moves = [], []
        for _ in range(16):
            state = torch.tensor([[chance.random() for _ in range(64)]], device="cuda")
            with torch.no_grad():
                moves.append(int(torch.multinomial(policy(state).softmax(-1), 1)))
            seen.append(state)
        optimizer.zero_grad()
        scores = policy(torch.cat(seen)).log_softmax(-1)
        (-scores[torch.arange(16), torch.tensor(moves)].mean()).backward()
        optimizer.step()
    run.run(step, step_is="sixteen moves and an update", parts=16)


def recommender(run):
    """Embeddings with sparse gradients and towers over them; ids come from pinned memory every step."""
    tables = nn.ModuleList([nn.EmbeddingBag(50_000, 64, sparse=True) for _ in range(8)]).cuda()
    tower = nn.Sequential(nn.Linear(8 * 64, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
    optimizer = torch.optim.SGD([*tables.parameters(), *tower.parameters()], 0.01)
    batches = [torch.randint(0, 50_000, (8, 2048, 4)).pin_memory() for _ in range(4)]
    labels, count = torch.rand(2048, 1, device="cuda"), 0

    def step():
        nonlocal count
        ids = batches[count % 4].to("cuda", non_blocking=True)
        rows = torch.cat([table(i) for table, i in zip(tables, ids)], 1)
        loss = nn.functional.binary_cross_entropy_with_logits(tower(rows), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        count += 1
        if count % 25 == 0:
            loss.item()
    run.run(step, step_is="one training step; every 25th reads the loss")


def graph_batches(run):
    """Attention over graphs of random size, as samplers of neighbours make them, trained; every tenth evaluates."""
    from torch_geometric.nn import GATConv
    layers = nn.ModuleList([GATConv(64, 32, heads=4), GATConv(128, 7)]).cuda()
    optimizer, chance, count = torch.optim.Adam(layers.parameters()), random.Random(1), 0

    def answer(nodes):
        edges = torch.randint(0, nodes, (2, 8 * nodes), device="cuda")
        return layers[1](layers[0](torch.randn(nodes, 64, device="cuda"), edges).relu(), edges)

    def step():
        nonlocal count
        nodes = chance.randint(2000, 6000)
        optimizer.zero_grad()
        nn.functional.cross_entropy(answer(nodes), torch.randint(0, 7, (nodes,), device="cuda")).backward()
        optimizer.step()
        count += 1
        if count % 10 == 0:
            with torch.no_grad():
                answer(4000).argmax(1).cpu()
    run.run(step, step_is="one training step; every tenth is followed by an evaluation")


def spectra(run):
    """Spectra of 32 signals, smoothed and put back, without a wait but for every sixteenth step."""
    signals, count = torch.randn(32, 1 << 16, device="cuda"), 0
    band = torch.linspace(1, 0, (1 << 15) + 1, device="cuda")

    def step():
        nonlocal count
        clean = torch.fft.irfft(torch.fft.rfft(signals) * band)
        power = torch.fft.rfft(clean).abs().square().mean(0)
        (power / power.sum()).log1p().cumsum(0)
        count += 1
        if count % 16 == 0:
            torch.cuda.synchronize()
    run.run(step, step_is="one filtering; every sixteenth waits")


def translate(run):
    """Encodes a text and decodes until the end of it, which comes after 8 to 40 words: no two steps are alike."""
    encoder = nn.Sequential(*[encoder_layer(256) for _ in range(3)]).half().cuda().eval()
    decoder = nn.TransformerDecoderLayer(256, 8, 1024, dropout=0.0, batch_first=True).half().cuda().eval()
    head, chance = nn.Linear(256, 4000).half().cuda(), random.Random(1)

    def step():
        with torch.no_grad():
            memory = encoder(torch.randn(1, 64, 256, device="cuda", dtype=torch.half))
            words = torch.randn(1, 1, 256, device="cuda", dtype=torch.half)
            for _ in range(chance.randint(8, 40)):
                word = head(decoder(words, memory)[:, -1]).argmax(-1)
                word.item()
                words = torch.cat([words, torch.randn(1, 1, 256, device="cuda", dtype=torch.half)], 1)
    run.run(step, warm_up=10, step_is="one text: an encoding and 8 to 40 words", parts=24)


def reduced_overhead(run):
    """An encoder compiled with CUDA graphs of its own (reduce-overhead); answers are copied back."""
    model = torch.compile(nn.Sequential(*[encoder_layer(256) for _ in range(3)]).half().cuda().eval(),
                          mode="reduce-overhead")
    texts = torch.randn(8, 64, 256, device="cuda").half()

    def step():
        torch.compiler.cudagraph_mark_step_begin()
        with torch.no_grad():
            model(texts).mean(1).cpu()
    run.run(step, step_is="one batch")


def with_evaluation(run):
    """A net of convolutions, trained; after every 20 steps 5 batches are evaluated."""
    def block(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, 2, 1), nn.BatchNorm2d(b), nn.ReLU())
    net = nn.Sequential(block(3, 32), block(32, 64), block(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                        nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    pictures, labels = torch.randn(64, 3, 64, 64, device="cuda"), torch.randint(0, 10, (64,), device="cuda")
    count = 0

    def step():
        nonlocal count
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(net(pictures), labels).backward()
        optimizer.step()
        count += 1
        if count % 20 == 0:
            net.eval()
            with torch.no_grad():
                sum((net(pictures).argmax(1) == labels).sum() for _ in range(5)).item()
            net.train()
    run.run(step, step_is="one training step; five evaluations after every twentieth")


def draw_pictures(run):
    """Eight steps of a sampler, the network called twice in each for guidance, and one decoding, read back."""
    net = nn.Sequential(nn.Conv2d(4, 96, 3, padding=1), nn.GroupNorm(8, 96), nn.SiLU(),
                        nn.Conv2d(96, 96, 3, padding=1), nn.SiLU(), nn.Conv2d(96, 4, 3, padding=1)).half().cuda()
    decode = nn.Sequential(nn.Upsample(scale_factor=8), nn.Conv2d(4, 3, 3, padding=1)).half().cuda()

    def step():
        with torch.no_grad():
            x = torch.randn(2, 4, 64, 64, device="cuda", dtype=torch.half)
            for _ in range(8):
                plain, guided = net(x), net(x * 1.1)
                x = x - 0.1 * (plain + 7.5 * (guided - plain))
            decode(x).clamp(0, 1).cpu()
    run.run(step, step_is="a batch of pictures", parts=8)


if __name__ == "__main__":
    loop.Loop({"amp_finetune": amp_finetune, "gan": gan, "reinforcement": reinforcement, "recommender": recommender,
               "graph_batches": graph_batches, "spectra": spectra, "translate": translate,
               "reduced_overhead": reduced_overhead, "with_evaluation": with_evaluation,
               "draw_pictures": draw_pictures}, torch.cuda.synchronize, ranged, profiled,
              {"amp_finetune": ["transformers.models.bert.modeling_bert"], "graph_batches": ["torch_geometric.nn"],
               "reduced_overhead": ["torch._dynamo"]})
