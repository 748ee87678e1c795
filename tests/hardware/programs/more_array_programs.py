"""More programs without a framework, written after the search for steps and recorded once, to test it blind.

    more_array_programs.py NAME [options of loop.py]
"""

import loop
from array_programs import synchronize


def means(run):
    """Groups of points by k-means in CuPy: an iteration assigns, averages and asks how far the middles moved."""
    import cupy as cp
    points, middles = cp.random.standard_normal((50_000, 16), dtype=cp.float32), None

    def step():
        nonlocal middles
        if middles is None:
            middles = points[:32].copy()
        apart = (points * points).sum(1, keepdims=True) - 2 * points @ middles.T + (middles * middles).sum(1)
        group = apart.argmin(1)
        chosen = (group[None, :] == cp.arange(32)[:, None]).astype(cp.float32)
        fresh = chosen @ points / (chosen.sum(1, keepdims=True) + 1)
        moved = float(cp.abs(fresh - middles).max())
        middles = fresh if moved > 1e-3 else None
    run.run(step, step_is="one iteration")


def options_prices(run):
    """Prices by Monte Carlo in Numba: eight launches of paths, a sum, and a copy back after every fourth step."""
    import numpy
    if not hasattr(numpy, "row_stack"):  # Numba's compiler still asks for it
        numpy.row_stack = numpy.vstack
    from numba import cuda

    @cuda.jit
    def paths(seed, prices):
        i = cuda.grid(1)
        state, price = numpy.uint32(i * 747796405 + seed), numpy.float32(100)
        for _ in range(64):
            state = numpy.uint32(state * numpy.uint32(1664525) + numpy.uint32(1013904223))
            price *= numpy.float32(1) + (numpy.float32(state >> numpy.uint32(8)) / numpy.float32(16777216)
                                         - numpy.float32(0.5)) * numpy.float32(0.02)
        prices[i] = max(price - numpy.float32(100), numpy.float32(0))

    @cuda.jit
    def add_up(prices, total):
        cuda.atomic.add(total, 0, prices[cuda.grid(1)])

    prices, total, count = cuda.device_array(1 << 18, numpy.float32), cuda.to_device(numpy.zeros(1, numpy.float32)), 0

    def step():
        nonlocal count
        for seed in range(8):
            paths[1024, 256](count * 8 + seed, prices)
        add_up[1024, 256](prices, total)
        count += 1
        if count % 4 == 0:
            total.copy_to_host()
    run.run(step, step_is="eight launches and a sum; every fourth is read")


if __name__ == "__main__":
    loop.Loop({"cupy_means": means, "numba_options": options_prices}, synchronize)
