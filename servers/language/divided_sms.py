"""Two CUDA streams that divide the SMs of a GPU: green contexts of its driver (CUDA 12.5 or later), by ctypes.

PyTorch's own green contexts are each split off from the whole GPU, so that two of them overlap.
"""

import ctypes

RESOURCE_BYTES, SM_COUNT_AT, SM_RESOURCE = 144, 96, 1  # CUdevResource of cuda.h
STEP = 8  # SMs that the driver keeps together, from compute capability 9.0 on


class Driver:
    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} answered {code}: green contexts need a driver of CUDA 12.5 or later")


def sms_of(resource):
    return ctypes.c_uint.from_buffer(resource, SM_COUNT_AT).value


def stream_on(driver, resource, device):
    """A stream whose kernels run on those SMs. It lives as long as the process."""
    description, context, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    driver.call("cuDevResourceGenerateDesc", ctypes.byref(description), resource, 1)
    driver.call("cuGreenCtxCreate", ctypes.byref(context), description, device, 1)  # with a default stream, as it must
    driver.call("cuGreenCtxStreamCreate", ctypes.byref(stream), context, 1, 0)  # not blocking, usual priority
    return stream.value


def divided(share, device=0):
    """[(stream, its SMs), (stream, the other SMs)]: the first has about `share` of them. CUDA must be set up."""
    driver, count = Driver(), ctypes.c_uint(1)
    whole, first, rest = (ctypes.create_string_buffer(RESOURCE_BYTES) for _ in range(3))
    driver.call("cuDeviceGetDevResource", device, whole, SM_RESOURCE)
    wanted = max(STEP, round(share * sms_of(whole) / STEP) * STEP)
    driver.call("cuDevSmResourceSplitByCount", first, ctypes.byref(count), whole, rest, 0, wanted)
    return [(stream_on(driver, resource, device), sms_of(resource)) for resource in (first, rest)]
