"""More programs that the device binds: by arithmetic, by its memory, by its cache, by additions to single words.

    more_device_bound_programs.py NAME [options of loop.py]

Each takes at most about a gigabyte, so that many processes fit on a device.
"""

import loop
import torch
from torch import nn
from torch.nn import functional as F
from torch_programs import profiled, ranged

HALF = torch.bfloat16


def patch_reading(run):
    """Six layers of a vision transformer look at 48 pictures of 196 patches."""
    layer = nn.TransformerEncoderLayer(768, 12, 3072, activation="gelu", batch_first=True, norm_first=True)
    model = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).to(HALF).cuda().eval()
    patches = torch.randn(48, 196, 768, device="cuda", dtype=HALF)

    def step():
        with torch.no_grad():
            model(patches)[0, 0, 0].item()
    run.run(step, step_is="one batch of pictures")


def word_writing(run):
    """Four words, one after another, through weights that the cache cannot hold: each word reads 1.3 GB."""
    layers = [torch.randn(11008, 4096, device="cuda", dtype=HALF) * 0.01 for _ in range(7)]

    def step():
        x = torch.ones(1, 4096, device="cuda", dtype=HALF)
        for _ in range(4):
            for weights in layers:
                x = F.linear(F.silu(F.linear(x, weights)), weights.t()).clamp(-1, 1)
        x[0, 0].item()
    run.run(step, step_is="four words")


def clustering(run):
    """Finds the nearest of 512 centres for 150,000 points of 64 dimensions, and moves the centres there."""
    points, centres = torch.randn(150_000, 64, device="cuda"), torch.randn(512, 64, device="cuda")

    def step():
        nonlocal centres
        nearest = (centres.square().sum(1) - 2 * points @ centres.t()).argmin(1)
        sums = torch.zeros_like(centres).index_add_(0, nearest, points)
        centres = sums / torch.bincount(nearest, minlength=512).clamp(min=1)[:, None]
        centres[0, 0].item()
    run.run(step, step_is="one round of k-means")


def sparse_solver(run):
    """Steps of conjugate gradients for heat on a grid of 1536^2, whose matrix is sparse; 6 make a step."""
    side = 1536
    index = torch.arange(side * side, device="cuda").view(side, side)
    pairs = torch.cat([torch.stack([index[:, 1:], index[:, :-1]]).flatten(1),
                       torch.stack([index[1:], index[:-1]]).flatten(1)], 1)
    where = torch.cat([pairs, pairs.flip(0), index.flatten().expand(2, -1)], 1)
    values = torch.full((where.shape[1],), -1.0, device="cuda")
    values[-side * side:] = 5.0
    matrix = torch.sparse_coo_tensor(where, values, (side * side,) * 2).coalesce().to_sparse_csr()
    goal = torch.randn(side * side, 1, device="cuda")

    def step():
        x, rest = torch.zeros_like(goal), goal
        way, size = rest, rest.square().sum()
        for _ in range(6):
            ahead = matrix @ way
            length = size / (way * ahead).sum()
            x, rest = x + length * way, rest - length * ahead
            size, before = rest.square().sum(), size
            way = rest + size / before * way
        x[0, 0].item()
    run.run(step, step_is="6 steps of conjugate gradients")


def blurring(run):
    """Blurs 16 pictures of 3 x 1024^2 with a window of 9 x 9, and takes them down to a half."""
    pictures = torch.randn(16, 3, 1024, 1024, device="cuda")
    window = torch.rand(3, 1, 9, 9, device="cuda") / 81

    def step():
        with torch.no_grad():
            blurred = F.conv2d(pictures, window, padding=4, groups=3)
            F.interpolate(blurred, scale_factor=0.5, mode="bilinear").mean().item()
    run.run(step, step_is="all pictures")


def option_prices(run):
    """Draws 8 million paths of four steps and prices an option by them."""
    def step():
        price = torch.full((8 << 20,), 100.0, device="cuda")
        for _ in range(4):
            price = price * torch.exp(0.1 * torch.randn_like(price) - 0.005)
        F.relu(price - 105).mean().item()
    run.run(step, step_is="all paths")


def counting(run):
    """Counts 16 million numbers by 4096 kinds, and adds their weights up by kind."""
    kinds, weights = torch.randint(0, 4096, (16 << 20,), device="cuda"), torch.rand(16 << 20, device="cuda")

    def step():
        counts = torch.bincount(kinds, minlength=4096)
        sums = torch.zeros(4096, device="cuda").scatter_add_(0, kinds, weights)
        (sums / counts)[0].item()
    run.run(step, step_is="all numbers")


def wide_training(run):
    """Trains three wide layers in half precision on batches of 4096."""
    model = nn.Sequential(nn.Linear(2048, 4096), nn.LayerNorm(4096), nn.GELU(), nn.Linear(4096, 4096), nn.GELU(),
                          nn.Linear(4096, 2048)).to(HALF).cuda()
    optimizer, batch = torch.optim.AdamW(model.parameters(), 1e-3), torch.randn(4096, 2048, device="cuda", dtype=HALF)

    def step():
        optimizer.zero_grad()
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()
    run.run(step, step_is="one training step, which reads its loss")


if __name__ == "__main__":
    loop.Loop({f.__name__: f for f in (patch_reading, word_writing, clustering, sparse_solver, blurring, option_prices,
                                       counting, wide_training)},
              torch.cuda.synchronize, ranged, profiled)
