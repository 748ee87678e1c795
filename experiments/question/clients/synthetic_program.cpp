#include "experiments/question/clients/synthetic_choice.h"

namespace corun {

namespace {

using namespace std::chrono_literals;
constexpr Duration kLongestPhase{24h};
constexpr std::int64_t kMostKernels = 10'000'000;

const FieldTable<ProgramPhase>& phase_fields() {
  static const FieldTable<ProgramPhase> table = {
      duration_field("cpu", &ProgramPhase::host, Duration(1ns), kLongestPhase, "s"),
      duration_field("gpu", &ProgramPhase::gpu, Duration(1ns), kLongestPhase, "s"),
      duration_field("kernel", &ProgramPhase::kernel, Duration(1ns), kLongestPhase),
      number_field("duty", &ProgramPhase::duty, 1e-6, 1),
  };
  return table;
}

void check_phase(const Node& node, const ProgramPhase& phase, ScalarReader& read) {
  const bool is_host = node.find("cpu") != nullptr, is_gpu = node.find("gpu") != nullptr;
  if (is_host == is_gpu) return read.wrong(node, "a phase is either `cpu` time or `gpu` time with a `kernel` length");
  if (is_host && (node.find("kernel") != nullptr || node.find("duty") != nullptr))
    read.wrong(node, "a phase of `cpu` time has no `kernel` and no `duty`");
  if (is_gpu && node.find("kernel") == nullptr)
    read.wrong(node, "a phase of `gpu` time needs `kernel`, the length of its kernels");
  const bool is_too_fine = is_gpu && phase.kernel > Duration::zero() && phase.gpu / phase.kernel > kMostKernels;
  if (is_too_fine) read.wrong(node, fmt::format("a phase has at most {} kernels", kMostKernels));
}

const FieldTable<KernelsProfile>& kernels_fields() {
  static const FieldTable<KernelsProfile> table = {
      duration_field("duration", &KernelsProfile::duration, Duration(1ns), Duration(10min)),
      count_field("count", &KernelsProfile::count, 1, 1'000'000),
      count_field("blocks", &KernelsProfile::blocks, 1, 2'147'483'647),
      count_field("threads", &KernelsProfile::threads, 1, 1024),
      duration_field("launch_gap", &KernelsProfile::launch_gap, Duration(0), Duration(1min), "us"),
  };
  return table;
}

}  // namespace

std::optional<SyntheticWork> read_program(const Node& node, ScalarReader& read) {
  ProgramProfile program;
  if (!read.expect(node, Node::Kind::kSequence, "[{ cpu: 60s }, { gpu: 60s, kernel: 20ms, duty: 85% }]"))
    return std::nullopt;
  bool has_kernels = false;
  for (const Node& item : node.items) {
    if (!read.expect(item, Node::Kind::kMapping, "{ gpu: 60s, kernel: 20ms, duty: 85% }")) continue;
    ProgramPhase& phase = program.phases.emplace_back();
    read_fields(item, phase_fields(), "key", phase, read);
    check_phase(item, phase, read);
    has_kernels |= item.find("gpu") != nullptr;
  }
  if (!has_kernels) read.wrong(node, "a program needs a phase of `gpu` time");
  return SyntheticWork{"", program};
}

std::optional<SyntheticWork> read_kernels(const Node& node, ScalarReader& read) {
  KernelsProfile kernels;
  if (!read.expect(node, Node::Kind::kMapping, "{ duration: 1ms, blocks: 4096 }")) return std::nullopt;
  read_fields(node, kernels_fields(), "key", kernels, read);
  if (node.find("duration") == nullptr) read.wrong(node, "kernels need a `duration`");
  return SyntheticWork{"", kernels};
}

}  // namespace corun
