#include "sim/serving/step_size.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace corun {

namespace {

/// Reads a text from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Up to the next `word` and behind it.
  bool skip_past(std::string_view word) {
    const std::size_t found = rest_.find(word);
    if (found == std::string_view::npos) return false;
    rest_.remove_prefix(found + word.size());
    return true;
  }
  bool number(std::uint32_t& out) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }
  bool is_done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// ` prompts=3`, which may be left out. False where it is no number of prompts that have a token each.
bool read_prompts(Scanner& scan, StepSize& size) {
  if (scan.skip(" prompts=") && !scan.number(size.prompts)) return false;
  return size.prompts > 0 && size.prompts <= size.count;
}

/// `prefill tokens=512 context=0`, `decode batch=8`
std::optional<StepSize> plain_size(std::string_view range) {
  Scanner scan(range);
  StepSize size;
  size.kind = scan.skip("prefill tokens=") ? StepSize::Kind::kPrefill : StepSize::Kind::kDecode;
  if (size.kind == StepSize::Kind::kDecode && !scan.skip("decode batch=")) return std::nullopt;
  if (!scan.number(size.count) || size.count == 0) return std::nullopt;
  if (scan.skip(" context=") && !scan.number(size.context)) return std::nullopt;
  if (size.reads_prompt() && !read_prompts(scan, size)) return std::nullopt;
  return scan.is_done() ? std::optional(size) : std::nullopt;
}

/// `mixed tokens=480 context=0 batch=32 decode_context=700`
std::optional<StepSize> mixed_size(std::string_view range) {
  Scanner scan(range);
  StepSize size{.kind = StepSize::Kind::kMixed};
  if (!scan.skip("mixed tokens=") || !scan.number(size.count)) return std::nullopt;
  if (scan.skip(" context=") && !scan.number(size.context)) return std::nullopt;
  if (!scan.skip(" batch=") || !scan.number(size.decodes)) return std::nullopt;
  if (scan.skip(" decode_context=") && !scan.number(size.decode_context)) return std::nullopt;
  if (!read_prompts(scan, size)) return std::nullopt;
  return scan.is_done() && size.count > 0 && size.decodes > 0 ? std::optional(size) : std::nullopt;
}

/// `step[DECODE bs=32]`, `step[EXTEND bs=1 toks=512]`
std::optional<StepSize> size_of_sglang(std::string_view range) {
  Scanner scan(range);
  std::uint32_t sequences = 0;
  StepSize size;
  if (!scan.skip("step[")) return std::nullopt;
  if (scan.skip("DECODE bs=")) return scan.number(size.count) && size.count > 0 ? std::optional(size) : std::nullopt;
  size.kind = StepSize::Kind::kPrefill;
  if (!scan.skip("EXTEND bs=") || !scan.number(sequences) || !scan.skip(" toks=")) return std::nullopt;
  return scan.number(size.count) && size.count > 0 ? std::optional(size) : std::nullopt;
}

/// `9(8155)` or `9(sq8155sk8430sqsq...)`: requests, their tokens and, in the longer form, the tokens that they attend
/// to, new ones included.
struct VllmPart {
  std::uint32_t requests = 0, tokens = 0, attended = 0;

  bool read(Scanner& scan) {
    if (!scan.number(requests) || !scan.skip("(")) return false;
    if (!scan.skip("sq")) return scan.number(tokens);
    return scan.number(tokens) && scan.skip("sk") && scan.number(attended);
  }
  std::uint32_t context() const { return attended > tokens ? (attended - tokens) / requests : 0; }
};

std::optional<StepSize> size_of_vllm(std::string_view range) {
  Scanner scan(range);
  VllmPart prompts, decodes;
  if (!scan.skip("execute_") || !scan.skip_past("context_") || !prompts.read(scan)) return std::nullopt;
  if (!scan.skip_past("generation_") || !decodes.read(scan)) return std::nullopt;
  const StepSize decode{StepSize::Kind::kDecode, decodes.requests, decodes.requests > 0 ? decodes.context() : 0};
  if (prompts.requests == 0) return decodes.requests > 0 ? std::optional(decode) : std::nullopt;
  if (prompts.tokens == 0) return std::nullopt;
  const StepSize prefill{StepSize::Kind::kPrefill, prompts.tokens, prompts.context()};
  if (decodes.requests == 0) return prefill;
  return StepSize{StepSize::Kind::kMixed, prefill.count, prefill.context, decode.count, decode.context};
}

}  // namespace

std::string to_string(const StepSize& size) {
  if (size.kind == StepSize::Kind::kMixed)
    return fmt::format("{} with {}", to_string(size.prefill_alone()), to_string(size.decode_alone()));
  const std::string prompts = size.prompts > 1 ? fmt::format(" of {} prompts", size.prompts) : "";
  return fmt::format("{} of {}{} at {}", size.kind == StepSize::Kind::kPrefill ? "prefill" : "decode", size.count,
                     prompts, size.context);
}

std::optional<StepSize> step_size_of(std::string_view range) {
  if (const auto size = plain_size(range)) return size;
  if (const auto size = mixed_size(range)) return size;
  if (const auto size = size_of_sglang(range)) return size;
  return size_of_vllm(range);
}

}  // namespace corun
