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

/// Handles passed to Python policies. An operation raises if used outside the callback that created it, the others
/// outside of any callback. No Python is needed to make them.

/// The callback of a policy that is running; pointers are null while there is none. Shared by the policy's handles.
struct PolicyCallback {
  const GpuView* view = nullptr;
  Actions* actions = nullptr;  ///< only while it decides
  std::uint64_t number = 0;    ///< of this policy's callbacks, from 1
};
using SharedCallback = std::shared_ptr<PolicyCallback>;

[[noreturn]] inline void refuse_stale(const char* what) {
  throw std::runtime_error(
      fmt::format("this {} was seen in an earlier call: copy the values that are to be kept", what));
}

struct ViewRef {
  SharedCallback callback;
  const GpuView& get() const {
    if (callback->view == nullptr) refuse_stale("view");
    return *callback->view;
  }
};

/// A client as it is in the running callback; the handle may come from an earlier one.
struct ClientRef {
  SharedCallback callback;
  ClientId id;
  const ClientView& get() const {
    if (callback->view == nullptr) refuse_stale("client");
    return callback->view->client(id);
  }
};

/// An operation; only in the callback that created it.
struct OpRef {
  SharedCallback callback;
  std::uint64_t number = 0;
  const OpView* op = nullptr;
  const OpView& get() const {
    if (callback->view == nullptr || callback->number != number) refuse_stale("operation");
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
  SharedCallback callback;
  std::shared_ptr<RuleNames> names;
  Actions& get() const {
    if (callback->actions == nullptr) refuse_stale("`act`");
    return *callback->actions;
  }
};

}  // namespace corun
