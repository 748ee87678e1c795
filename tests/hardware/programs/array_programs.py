"""Programs without a framework of networks: CuPy and Numba.

    array_programs.py NAME [options of loop.py]
"""

import sys

import loop


def cupy_filter(run):
    """64 signals filtered by Fourier transforms and correlated; every step asks for one number."""
    import cupy as cp
    signals = cp.random.standard_normal((64, 1 << 14), dtype=cp.float32)
    band = cp.linspace(1, 0, (1 << 13) + 1, dtype=cp.float32)

    def step():
        clean = cp.fft.irfft(cp.fft.rfft(signals) * band).astype(cp.float32)
        clean -= clean.mean(axis=1, keepdims=True)
        alike = clean @ clean.T
        float(cp.abs(alike).max())
    run.run(step, step_is="one filtering")


def numba_heat(run):
    """Heat on a grid, ten instants a step by a kernel of Numba; every step waits."""
    import numpy
    if not hasattr(numpy, "row_stack"):  # Numba's compiler still asks for it
        numpy.row_stack = numpy.vstack
    from numba import cuda

    @cuda.jit
    def spread(before, after):
        i, j = cuda.grid(2)
        if 0 < i < before.shape[0] - 1 and 0 < j < before.shape[1] - 1:
            around = before[i - 1, j] + before[i + 1, j] + before[i, j - 1] + before[i, j + 1]
            after[i, j] = before[i, j] + numpy.float32(0.2) * (around - numpy.float32(4) * before[i, j])

    first = cuda.to_device(numpy.random.rand(2048, 2048).astype(numpy.float32))
    second = cuda.to_device(numpy.zeros((2048, 2048), numpy.float32))

    def step():
        for _ in range(5):
            spread[(128, 128), (16, 16)](first, second)
            spread[(128, 128), (16, 16)](second, first)
        cuda.synchronize()
    run.run(step, step_is="ten launches and a wait")


def synchronize():
    if "cupy" in sys.modules:
        sys.modules["cupy"].cuda.Device().synchronize()
    if "numba.cuda" in sys.modules:
        sys.modules["numba.cuda"].synchronize()


if __name__ == "__main__":
    loop.Loop({"cupy": cupy_filter, "numba": numba_heat}, synchronize)
