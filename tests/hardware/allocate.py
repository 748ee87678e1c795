"""How much device memory a framework gets: allocate.py torch|cupy|jax [MIB]

Says, as one JSON line, what it is told of the device (MiB), and how many tensors of MIB (512) it gets until it is
refused more. `--seconds S` holds them so long.
"""

import argparse
import json
import os
import time

MIB = 1 << 20


def of_torch():
    import torch
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    return torch.cuda.mem_get_info, lambda size: torch.empty(size, dtype=torch.uint8, device="cuda"), \
        torch.OutOfMemoryError


def of_cupy():
    import cupy
    cupy.cuda.set_allocator(None)
    cupy.cuda.runtime.free(0)
    return cupy.cuda.runtime.memGetInfo, cupy.cuda.runtime.malloc, cupy.cuda.runtime.CUDARuntimeError


def of_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    device = jax.devices("gpu")[0]
    jax.device_put(0.0, device).block_until_ready()
    told = device.memory_stats()["bytes_limit"]

    def allocate(size):
        return jax.numpy.zeros(size, dtype=jax.numpy.uint8, device=device).block_until_ready()
    return lambda: (told, told), allocate, jax.errors.JaxRuntimeError


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("framework", choices=("torch", "cupy", "jax"))
    parser.add_argument("mib", type=int, nargs="?", default=512)
    parser.add_argument("--seconds", type=float, default=0)
    options = parser.parse_args()
    tell, allocate, refused = {"torch": of_torch, "cupy": of_cupy, "jax": of_jax}[options.framework]()
    free, total = tell()
    got = []
    try:
        while len(got) < 400:
            got.append(allocate(options.mib * MIB))
        why = "not refused"
    except refused as error:
        why = str(error).split("\n", 1)[0][:200]
    print(json.dumps({"framework": options.framework, "told_total_mib": total // MIB, "told_free_mib": free // MIB,
                      "tensors": len(got), "mib_each": options.mib, "refused": why}), flush=True)
    time.sleep(options.seconds)


if __name__ == "__main__":
    main()
