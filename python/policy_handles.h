#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/policy/action.h"
#include "sim/policy/view.h"

namespace corun {

/// What a policy in Python holds in its hands: objects that look at the present call, and raise in any other. No
/// Python is needed to make them.

/// Set for the length of one call.
struct Call {
  const GpuView* view = nullptr;
  Actions* actions = nullptr;
  std::uint64_t number = 0;
};
using SharedCall = std::shared_ptr<Call>;

[[noreturn]] inline void refuse_stale(const char* what) {
  throw std::runtime_error(
      fmt::format("this {} was seen in an earlier call: copy the values that are to be kept", what));
}

struct ViewRef {
  SharedCall call;
  const GpuView& get() const {
    if (call->view == nullptr) refuse_stale("view");
    return *call->view;
  }
};

/// Shows the client as it is during the present call, whenever it was got.
struct ClientRef {
  SharedCall call;
  ClientId id;
  const ClientView& get() const {
    if (call->view == nullptr) refuse_stale("client");
    return call->view->client(id);
  }
};

/// Good for the call that it was made in.
struct OpRef {
  SharedCall call;
  std::uint64_t number = 0;
  const OpView* op = nullptr;
  const OpView& get() const {
    if (call->view == nullptr || call->number != number) refuse_stale("operation");
    return *op;
  }
};

/// The rules of holds, which outlive the policies that state them: those of a class live as long as its experiment.
class RuleNames {
 public:
  std::string_view keep(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return *names_.insert(name).first;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
};

/// `act`: only while deciding.
struct ActionsRef {
  SharedCall call;
  std::shared_ptr<RuleNames> names;
  Actions& get() const {
    if (call->actions == nullptr) refuse_stale("`act`");
    return *call->actions;
  }
};

}  // namespace corun
