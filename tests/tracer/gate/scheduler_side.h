#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tracer/gate/channel/channel.h"
#include "tracer/gate/channel/handover.h"
#include "tracer/gate/channel/word.h"
#include "tracer/guest/part_file.h"

namespace corun::testing {

/// The scheduler's side of the gate that this process finds by its environment: memory, and a socket that hands it out.
/// The gate is closed at first.
class SchedulerSide {
 public:
  SchedulerSide() {
    common_ = static_cast<gate::GateCommon*>(make(sizeof(gate::GateCommon), memory_.common));
    lane_ = static_cast<gate::Lane*>(make(sizeof(gate::Lane), memory_.lane));
    common_->magic = gate::kMagic;
    lane_->gate = gate::closed_word(0, 0);
    beat();
    listener_ = gate::listen_at(path_.c_str());
    EXPECT_GE(listener_, 0);
    door_ = std::jthread([this](const std::stop_token& stop) {
      for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds{1}))
        gate::hand_over(listener_, memory_);
    });
    ::setenv(gate::kFileVariable, path_.c_str(), 1);
  }
  ~SchedulerSide() {
    end_door();
    ::unsetenv(gate::kFileVariable);
    ::close(memory_.common);
    ::close(memory_.lane);
    ::munmap(common_, sizeof(gate::GateCommon));
    ::munmap(lane_, sizeof(gate::Lane));
  }
  SchedulerSide(const SchedulerSide&) = delete;
  SchedulerSide& operator=(const SchedulerSide&) = delete;

  /// Its socket answers no longer.
  void end_door() {
    door_ = {};
    if (listener_ >= 0) ::close(listener_);
    listener_ = -1;
  }
  void beat(std::int64_t ago_ns = 0) { common_->heartbeat_ns = guest::monotonic_ns() - ago_ns; }
  void open_gate() {
    lane_->gate.fetch_and(~gate::kClosed);
    lane_->turn.fetch_add(1);
  }

  gate::Lane& lane() const { return *lane_; }
  gate::GateCommon& common() const { return *common_; }
  const gate::Launch& launch(std::uint64_t number) const { return lane_->launches[number % gate::kDepth]; }
  /// The numbers of launches that the process of this slot has written as complete.
  std::vector<std::uint64_t> done(std::uint32_t slot = 0) const {
    const gate::Slot& its = lane_->slots[slot];
    return {its.done, its.done + its.done_count.load()};
  }
  const std::string& path() const { return path_; }

 private:
  static void* make(std::size_t size, int& descriptor) {
    descriptor = ::memfd_create("gate", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(descriptor, static_cast<off_t>(size)), 0);
    return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "gate";
  gate::Memory memory_;
  gate::GateCommon* common_ = nullptr;
  gate::Lane* lane_ = nullptr;
  int listener_ = -1;
  std::jthread door_;
};

/// Waits until it holds, for at most ten seconds. Whether it did.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  return condition();
}

/// A new one that lives as long as the process: threads of its own may be in it.
template <class T, class... Args>
T& kept(Args&&... args) {
  static auto& all = *new std::vector<std::unique_ptr<T>>;
  return *all.emplace_back(std::make_unique<T>(std::forward<Args>(args)...));
}

}  // namespace corun::testing
