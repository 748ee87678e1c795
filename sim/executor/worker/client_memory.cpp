#include "sim/executor/worker/client_memory.h"

#include <fcntl.h>

#include <algorithm>

namespace corun::executor {

namespace {

constexpr std::uint64_t kPiece = 64 << 20;

}  // namespace

ClientMemory::ClientMemory(const CudaDriver& cuda, const WorkerSetup& setup)
    : cuda_(cuda), snapshot_bytes_(setup.snapshot_bytes), snapshot_descriptor_(setup.snapshot_descriptor) {
  hold(setup.memory_bytes);
}

ClientMemory::~ClientMemory() {
  if (device_ != 0) cuda_.memory_free(device_);
  if (host_.address() != nullptr) cuda_.host_unregister(host_.address());
}

void ClientMemory::hold(std::uint64_t bytes) {
  if (device_ != 0) cuda_.check(cuda_.memory_free(device_), "giving back the client's memory");
  device_ = 0;
  if (bytes > 0) cuda_.check(cuda_.memory_allocate(&device_, bytes), "taking the client's memory");
}

void ClientMemory::pin() {
  if (host_.address() != nullptr) return;
  SharedMemory memory = SharedMemory::open(fcntl(snapshot_descriptor_, F_DUPFD_CLOEXEC, 0), snapshot_bytes_);
  memory.fill();
  cuda_.check(cuda_.host_register(memory.address(), snapshot_bytes_, 0), "pinning memory for a snapshot");
  host_ = std::move(memory);
}

template <class CopyPiece>
void ClientMemory::copy_pieces(CudaHandle stream, const std::function<bool()>& is_to_stop, CopyPiece copy_piece) {
  pin();
  for (std::uint64_t at = 0; at < snapshot_bytes_ && !is_to_stop(); at += kPiece) {
    const std::uint64_t bytes = std::min(kPiece, snapshot_bytes_ - at);
    cuda_.check(copy_piece(device_ + at, static_cast<char*>(host_.address()) + at, bytes), "copying a client's memory");
    cuda_.check(cuda_.stream_synchronize(stream), "copying a client's memory");
  }
}

void ClientMemory::save(CudaHandle stream, const std::function<bool()>& is_to_stop) {
  copy_pieces(stream, is_to_stop, [&](CudaPointer device, void* host, std::uint64_t bytes) {
    return cuda_.copy_from_device(host, device, bytes, stream);
  });
}

void ClientMemory::restore(CudaHandle stream, const std::function<bool()>& is_to_stop) {
  copy_pieces(stream, is_to_stop, [&](CudaPointer device, const void* host, std::uint64_t bytes) {
    return cuda_.copy_to_device(device, host, bytes, stream);
  });
}

}  // namespace corun::executor
