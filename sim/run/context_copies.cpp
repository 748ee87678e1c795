#include "sim/run/context_copies.h"

#include <cmath>
#include <utility>

#include "sim/device/work.h"
#include "sim/run/client_views.h"
#include "sim/run/tickets.h"
#include "traces/base/error.h"

namespace corun {

void ContextCopies::snapshot(ClientId client, StreamId stream) {
  going_on_[client.value] = CopyEvent::kSnapshot;
  copy(client, stream, OpKind::kCopyDeviceToHost, input_.device.from_device_bytes_per_s);
}

void ContextCopies::restore(ClientId client, StreamId stream) {
  going_on_[client.value] = CopyEvent::kRestored;
  const bool has_link = input_.device.to_device_bytes_per_s > 0;
  if (!has_link || snapshot_bytes(input_.clients[client.value]) == 0) return completed(client);
  copy(client, stream, OpKind::kCopyHostToDevice, input_.device.to_device_bytes_per_s);
}

void ContextCopies::completed(ClientId client) {
  arbiter_.copied(client, *std::exchange(going_on_[client.value], std::nullopt));
}

void ContextCopies::copy(ClientId client, StreamId stream, OpKind kind, std::uint64_t bytes_per_s) {
  const std::uint64_t bytes = snapshot_bytes(input_.clients[client.value]);
  const Duration duration = time_for(client, bytes, bytes_per_s);
  driver_.change([&](DeviceModel& device, auto&) {
    const Time now = driver_.moved_to();
    device.submit({.ticket = ticket_of(client, kCopyNumber),
                   .client = client,
                   .stream = stream,
                   .kind = kind,
                   .duration = duration,
                   .ready_at = now,
                   .bytes = bytes},
                  now);
  });
}

Duration ContextCopies::time_for(ClientId client, std::uint64_t bytes, std::uint64_t bytes_per_s) const {
  const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_s);
  if (seconds > to_seconds(kLongestOp))
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("client '{}': copying {} bytes of its memory takes {:.0f} s; a device takes at most {:.0f} s",
                    input_.clients[client.value].name, bytes, seconds, to_seconds(kLongestOp)));
  return Duration{std::llround(seconds * 1e9)};
}

}  // namespace corun
