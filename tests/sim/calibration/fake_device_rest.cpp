// Functions of the driver that only executions ask for, or that fake_device.cpp does not replace: all refuse.

#include "sim/executor/driver/cuda_driver.h"

#define CORUN_REFUSE(name, exported, arguments)                           \
  extern "C" int refuse_##name() __asm__(exported) __attribute__((weak)); \
  extern "C" int refuse_##name() { return 801; }
CORUN_CUDA_CALLS(CORUN_REFUSE)
