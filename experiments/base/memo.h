#pragma once

#include <functional>
#include <future>
#include <map>
#include <mutex>

namespace corun {

/// Values that are computed once each: the first thread that asks for a key computes, later ones wait for it and share
/// the value, or the failure. Any number of threads.
template <class Key, class Value>
class Memo {
 public:
  const Value& get(const Key& key, const std::function<Value()>& compute) {
    std::promise<Value> promise;
    std::shared_future<Value> future;
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      std::shared_future<Value>& slot = values_[key];
      is_first = !slot.valid();
      if (is_first) slot = promise.get_future().share();
      future = slot;
    }
    if (is_first) {
      try {
        promise.set_value(compute());
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
    }
    return future.get();
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::shared_future<Value>> values_;
};

}  // namespace corun
