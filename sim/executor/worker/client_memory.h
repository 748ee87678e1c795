#pragma once

#include <cstdint>
#include <functional>

#include "sim/executor/driver/cuda_driver.h"
#include "sim/executor/worker/channel.h"

namespace corun::executor {

/// Device memory that a client holds, and copies of it in host memory that outlives its process. Belongs to the context
/// that is current when it is made.
class ClientMemory {
 public:
  /// Takes as much as `setup` says.
  ClientMemory(const CudaDriver& cuda, const WorkerSetup& setup);
  ~ClientMemory();
  ClientMemory(const ClientMemory&) = delete;
  ClientMemory& operator=(const ClientMemory&) = delete;

  /// Gives back what it holds and takes this much; waits for what runs, as the driver does.
  void hold(std::uint64_t bytes);

  /// Copies `setup.snapshot_bytes` of it to the host, or back, piece by piece on a stream, until `is_to_stop`. The host
  /// memory is pinned by the first of these, which takes longer.
  void save(CudaHandle stream, const std::function<bool()>& is_to_stop);
  void restore(CudaHandle stream, const std::function<bool()>& is_to_stop);

 private:
  void pin();
  template <class CopyPiece>
  void copy_pieces(CudaHandle stream, const std::function<bool()>& is_to_stop, CopyPiece copy_piece);

  const CudaDriver& cuda_;
  const std::uint64_t snapshot_bytes_;
  const int snapshot_descriptor_;
  CudaPointer device_ = 0;
  SharedMemory host_;
};

}  // namespace corun::executor
