"""Two kernels in Triton: the softmax of each row of a matrix, and the sum of two matrices."""

import triton
import triton.language as tl


@triton.jit
def _softmax(source, target, width, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(source + row * width + columns, mask=columns < width, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, 0))
    tl.store(target + row * width + columns, powers / tl.sum(powers, 0), mask=columns < width)


@triton.jit
def _add(first, second, target, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(target + at, 0.5 * tl.load(first + at, mask=inside) + tl.load(second + at, mask=inside), mask=inside)


def softmax(source, target):
    _softmax[(source.shape[0],)](source, target, source.shape[1], BLOCK=triton.next_power_of_2(source.shape[1]))


def add(first, second, target):
    _add[(triton.cdiv(first.numel(), 1024),)](first, second, target, first.numel(), BLOCK=1024)
