#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/base/memo.h"
#include "experiments/question/clients/canonical_client.h"

namespace corun {

/// Workloads of clients, each capture read once and each draw made once. Any number of threads may ask.
class WorkloadCache {
 public:
  using SharedWorkload = std::shared_ptr<const Workload>;

  /// `hashes` are those of every file that a client names; they must outlive it.
  explicit WorkloadCache(const FileHashes& hashes) : hashes_(hashes) {}

  /// Of the client's trace or synthetic work; synthetic work is drawn for a run of `horizon` with `seed`. A command
  /// alone has no jobs: its role says of which kind they are. Throws Error(kInput, kUnsupported), located in the
  /// experiment.
  SharedWorkload of(const ClientChoice& client, Duration horizon, std::uint64_t seed);

 private:
  struct CaptureKey {
    std::string path;
    WorkloadOptions options;
    std::vector<std::string> fewer_sms;
    auto operator<=>(const CaptureKey&) const = default;
  };
  struct DrawKey {
    std::uint64_t seed;
    Duration horizon;
    std::string client;  ///< in canonical form
    auto operator<=>(const DrawKey&) const = default;
  };

  SharedWorkload captured(const ClientChoice& client, const std::string& trace, const SourceLocation& where);
  /// Of its trace, with what `client.fewer_sms` say of its kernels.
  SharedWorkload with_fewer_sms(const ClientChoice& client);
  /// GPU times of a capture's frames, scaled.
  std::vector<Duration> captured_frames(const ClientChoice& client, const SceneTrace& scene);
  SharedWorkload drawn(const ClientChoice& client, Duration horizon, std::uint64_t seed);

  const FileHashes& hashes_;
  Memo<CaptureKey, SharedWorkload> captured_;
  Memo<DrawKey, SharedWorkload> drawn_;
};

}  // namespace corun
