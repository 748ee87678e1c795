#include "sim/workload/capture/host/host_log_of.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace corun {

namespace {

/// Kernels of the optimizers of PyTorch, Apex, DeepSpeed and TensorFlow. Multi-tensor kernels also clip gradients and
/// average weights, which is done where the optimizer is.
bool updates_parameters(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(
      std::initializer_list<const char*>{"multi_tensor_apply", "adam", "sgd", "rmsprop", "optimizer"},
      [&](const char* word) { return lower.find(word) != std::string::npos; });
}

/// The name without its numbers: a library may choose another tile size for another length, or after a trial.
std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) text += c;
  return text;
}

/// Numbers of what operations are called, by prototype.
class Symbols {
 public:
  Symbols(const CompactCapture& capture, HostLog& log) {
    log.symbol_count = log.name_count = kWaits;
    log.is_update.assign(kWaits, false);
    log.is_read_back.assign(kWaits, false);
    log.is_of_graph.assign(kWaits, false);
    for (const OpRecord& op : capture.prototypes) {
      const std::string_view name = capture.rest.text(op.name);
      const char kind = static_cast<char>('a' + static_cast<int>(op.kind));
      names_.push_back(number(kind + std::string(name), name_numbers_, log.name_count));
      symbols_.push_back(number(kind + without_numbers(name), symbol_numbers_, log.symbol_count));
      log.is_of_graph.push_back(op.graph_node != 0);
      if (log.is_update.size() == log.symbol_count) continue;
      log.is_update.push_back(op.kind == OpKind::kKernel && updates_parameters(name));
      log.is_read_back.push_back(op.kind == OpKind::kCopyDeviceToHost);
    }
  }
  std::uint32_t symbol_of(std::uint32_t prototype) const { return symbols_[prototype]; }
  std::uint32_t name_of(std::uint32_t prototype) const { return names_[prototype]; }
  static constexpr std::uint32_t kWaits = 4;  ///< the first numbers are those of StepKind

 private:
  using Numbers = std::unordered_map<std::string, std::uint32_t>;
  static std::uint32_t number(std::string text, Numbers& numbers, std::uint32_t& next) {
    const auto [found, is_new] = numbers.try_emplace(std::move(text), next);
    if (is_new) ++next;
    return found->second;
  }

  Numbers name_numbers_, symbol_numbers_;
  std::vector<std::uint32_t> names_, symbols_;
};

std::uint32_t stream_of(const CompactCapture& capture, const HostEvent& event) {
  if (event.kind == StepKind::kWaitAll) return HostLog::kAllStreams;
  return event.kind == StepKind::kWaitStream ? event.target : capture.prototype(event.target).queue;
}

}  // namespace

HostLog host_log_of(const CompactCapture& capture, const HostSequence& host) {
  HostLog log;
  const Symbols symbols(capture, log);
  log.variant_count = static_cast<std::uint32_t>(capture.prototypes.size()) + Symbols::kWaits;
  const std::size_t size = host.size();
  log.symbols.reserve(size);
  log.names.reserve(size);
  log.variants.reserve(size);
  log.starts_ns.reserve(size);
  log.whats.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const HostEvent event = host[i];
    const bool is_launch = event.kind == StepKind::kSubmit;
    const std::uint32_t prototype = is_launch ? capture.prototype_of[event.target] : 0;
    const auto wait = static_cast<std::uint32_t>(event.kind);
    log.symbols.push_back(is_launch ? symbols.symbol_of(prototype) : wait);
    log.names.push_back(is_launch ? symbols.name_of(prototype) : wait);
    log.variants.push_back(is_launch ? prototype + Symbols::kWaits : wait);
    log.starts_ns.push_back(event.start_ns);
    log.streams.push_back(stream_of(capture, event));
    log.whats.push_back(is_launch                          ? HostLog::What::kLaunch
                        : event.kind == StepKind::kWaitAll ? HostLog::What::kWaitAll
                                                           : HostLog::What::kWait);
  }
  return log;
}

}  // namespace corun
