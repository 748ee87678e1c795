#pragma once

#include <string>

#include "experiments/question/device_file.h"
#include "traces/timeline.h"

namespace corun {

/// Whether a capture's device and the one it is replayed on cannot be the same: the numbers of their SMs differ, or the
/// models or memories that their names state. Names count where the device is a built-in one: a device file of the
/// user's may have any name. False where the capture says nothing.
bool is_another_gpu(const CapturedDevice& captured, const DeviceSpec& device);

/// The built-in device that a capture's may be; empty if there is none.
std::string builtin_model_of(const CapturedDevice& captured);

}  // namespace corun
