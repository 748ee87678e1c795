"""Programs that repeat one operator of PyTorch as a CUDA graph, for company.py: OPERATOR@SIZE."""

import ctypes

import torch
from torch import nn

import torch_loop

MIB = 1 << 18  # floats


def product(kind, size):
    """Matrices of size by size."""
    a, b = (torch.randn(size, size, device="cuda", dtype=kind) for _ in range(2))
    out = torch.empty_like(a)
    return lambda: torch.mm(a, b, out=out)


def convolution(pictures):
    """3 by 3, 64 channels of 56 by 56."""
    layer = nn.Conv2d(64, 64, 3, padding=1, bias=False).cuda().half().to(memory_format=torch.channels_last)
    x = torch.randn(pictures, 64, 56, 56, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)
    return lambda: layer(x)


def relu(mib):
    x = torch.randn(mib * MIB, device="cuda")
    return lambda: torch.relu_(x)


def normalize(rows):
    """Rows of 1024 numbers."""
    x, layer = torch.randn(rows, 1024, device="cuda"), nn.LayerNorm(1024).cuda()
    return lambda: layer(x)


def batch(channels):
    """32 pictures of 28 by 28 in training."""
    layer = nn.BatchNorm2d(channels).cuda()
    x = torch.randn(32, channels, 28, 28, device="cuda")
    return lambda: layer(x)


def softmax(rows):
    x = torch.randn(rows, 1024, device="cuda")
    return lambda: torch.softmax(x, 1)


def attention(texts):
    """12 heads of 64, 256 words."""
    query, key, value = (torch.randn(texts, 12, 256, 64, device="cuda", dtype=torch.half) for _ in range(3))
    return lambda: nn.functional.scaled_dot_product_attention(query, key, value)


def gather(rows):
    """Rows of 256 bytes out of 64 MiB."""
    table, places = torch.randn(64 * MIB // 64, 64,
                                device="cuda"), torch.randint(0, 64 * MIB // 64, (rows,), device="cuda")
    return lambda: table[places]


def scatter(rows):
    """Rows of 256 bytes added into 64 MiB."""
    table, places = torch.randn(64 * MIB // 64, 64,
                                device="cuda"), torch.randint(0, 64 * MIB // 64, (rows,), device="cuda")
    more = torch.randn(rows, 64, device="cuda")
    return lambda: table.index_add_(0, places, more)


def transform(rows):
    """Of 65536 numbers each."""
    x = torch.randn(rows, 65536, device="cuda")
    return lambda: torch.fft.rfft(x)


def running(rows):
    """Sums along rows of 65536 numbers."""
    x = torch.randn(rows, 65536, device="cuda")
    return lambda: torch.cumsum(x, 1)


def clear(kib):
    """By the driver: a memset."""
    runtime = ctypes.CDLL(None).cudaMemsetAsync
    runtime.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p]
    x = torch.zeros(kib << 10, device="cuda", dtype=torch.uint8)

    def launch():
        if runtime(x.data_ptr(), 0, x.numel(), torch.cuda.current_stream().cuda_stream):
            raise RuntimeError("a memset failed")
    return launch


def copy(kib):
    """By the driver, inside the device."""
    x, y = (torch.zeros(kib << 10, device="cuda", dtype=torch.uint8) for _ in range(2))
    return lambda: y.copy_(x)


def total(mib):
    x = torch.randn(mib * MIB // 1024, 1024, device="cuda")
    return lambda: x.sum(1)


def transpose(mib):
    x = torch.randn(mib * MIB // 1024, 1024, device="cuda").t()
    return lambda: x.contiguous()


OPERATORS = {"product16": lambda size: product(torch.half, size), "product32": lambda size: product(torch.float, size),
             "convolution": convolution, "relu": relu, "normalize": normalize, "batch": batch, "softmax": softmax,
             "attention": attention, "gather": gather, "scatter": scatter, "transform": transform, "running": running,
             "clear": clear, "copy": copy, "total": total, "transpose": transpose}


def program(name):
    """A millisecond of the operator as one graph, of 4 to 100 launches."""
    kind, size = name.split("@")
    operator = OPERATORS[kind](int(size))

    def launch(times):
        with torch.no_grad():
            for _ in range(times):
                operator()
    torch_loop.timed_steps(lambda: launch(1), 10, 0)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    launch(50)
    end.record()
    torch.cuda.synchronize()
    launches = max(4, min(100, round(50 / begin.elapsed_time(end))))
    return torch_loop.as_graph(lambda: launch(launches))
