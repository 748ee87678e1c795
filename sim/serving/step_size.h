#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corun {

/// What a step of a serving engine computes: the next tokens of one prompt, or one token of each sequence of a batch.
struct StepSize {
  enum class Kind : std::uint8_t { kPrefill, kDecode } kind = Kind::kDecode;
  std::uint32_t count = 0;    ///< prefill: tokens of the prompt; decode: sequences
  std::uint32_t context = 0;  ///< tokens in the KV cache before it; decode: of each sequence

  auto operator<=>(const StepSize&) const = default;
};

/// The size that the name of a range states; nullopt for all other names. Known are
///
/// - `prefill tokens=512 context=0` and `decode batch=8 context=1024`, in which `context` may be left out;
/// - SGLang's `step[DECODE bs=32]`, `step[EXTEND bs=1 toks=512]`;
/// - vLLM's `execute_context_1(512)_generation_0(0)`, and the longer form of its forks with `sq` and `sk` sums.
///
/// A step of several prompts counts as one prompt of all their tokens, and contexts are means. A step that has prompts
/// and decodes has no size of either kind: nullopt.
std::optional<StepSize> step_size_of(std::string_view range);

}  // namespace corun
