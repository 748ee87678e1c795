#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tracer/gate/driver/driver.h"

namespace corun::testing {

/// The CUDA driver that a gate calls itself, as a test says; the newest one counts. Any thread.
///
/// No event has passed but those that the test lets pass. It refuses to change contexts, so that no thread of a gate
/// closes groups of launches on its own.
class GateDriver {
 public:
  using Result = gate::Driver::Result;
  static constexpr Result kRefused = 1;

  struct Node {
    unsigned grid[3] = {1, 1, 1};
    int type = 0;
    Result type_result = 0, kernel_result = 0;
  };
  struct Record {
    void *event, *stream;
    std::int64_t at_ns;
  };

  GateDriver();
  ~GateDriver();
  GateDriver(const GateDriver&) = delete;
  GateDriver& operator=(const GateDriver&) = delete;

  /// A function of this name; nullptr: it has none.
  void* function(const std::string& name) const;

  std::vector<Record> records() const;
  std::size_t record_count() const { return records().size(); }
  void let_pass(void* event);
  void let_all_pass();
  void let_none_pass();
  void capture(void* stream);
  void end_captures();
  template <class T>
  void set(T GateDriver::*what, T value) {
    const std::lock_guard lock(mutex_);
    this->*what = value;
  }

  std::set<std::string> missing;                                            ///< functions that it does not have
  int most_events = 1 << 20;                                                ///< that can be made
  Result record = 0, elapsed = 0, set_context = kRefused, query_error = 0;  ///< what the calls answer
  float took_ms = 0;                                                        ///< between any two events
  int events = 0;                                                           ///< that have been made
  std::map<void*, std::vector<Node>> graphs;
  int node_calls_until_refused = 1 << 20;
  Result primary_state = 0, device_result = 0;
  int is_active = 0, device = 0;  ///< of the primary context; of the one that is current
  void* context = nullptr;        ///< that is current

 private:
  friend struct GateDriverCalls;
  mutable std::mutex mutex_;
  std::vector<Record> records_;
  std::set<void*> passed_, captured_;
  bool all_pass_ = false;
};

/// Of the newest one; nullptr where there is none.
void* found_in_driver(const char* name);

}  // namespace corun::testing
