#pragma once

namespace corun::calibration {

/// probes.ptx as text: the driver compiles it for the device at hand.
extern const char kProbesPtx[];

}  // namespace corun::calibration
