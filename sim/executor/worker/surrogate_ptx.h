#pragma once

namespace corun::executor {

/// surrogate.ptx as text: the driver compiles it for the device at hand.
extern const char kSurrogatePtx[];

}  // namespace corun::executor
