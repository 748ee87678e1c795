#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corun {

/// What a step of a serving engine computes: the next tokens of one or more prompts, one token of each sequence of a
/// batch, or both at once.
struct StepSize {
  enum class Kind : std::uint8_t { kPrefill, kDecode, kMixed } kind = Kind::kDecode;
  std::uint32_t count = 0;    ///< prefill, mixed: tokens of all its prompts; decode: sequences
  std::uint32_t context = 0;  ///< tokens in the KV cache before it; decode: of each sequence; of several prompts:
                              ///< that at which one prompt of all tokens attends to as many
  std::uint32_t decodes = 0;  ///< mixed: sequences that get a token, > 0
  std::uint32_t decode_context = 0;  ///< mixed: tokens in the KV cache of each of these
  std::uint32_t prompts = 1;         ///< prefill, mixed: of which it reads tokens, > 0

  /// Sequences that it gives a token.
  std::uint32_t decoded() const { return kind == Kind::kDecode ? count : decodes; }
  bool reads_prompt() const { return kind != Kind::kDecode; }
  /// Of a mixed step: its prompt without its decodes, and the other way round.
  StepSize prefill_alone() const { return {Kind::kPrefill, count, context, 0, 0, prompts}; }
  StepSize decode_alone() const { return {Kind::kDecode, decodes, decode_context}; }

  auto operator<=>(const StepSize&) const = default;
};

/// `prefill of 512 at 1024`, `prefill of 512 of 3 prompts at 0`, `decode of 8 at 2048`, `prefill of 480 at 0 with
/// decode of 32 at 700`
std::string to_string(const StepSize& size);

/// The size that the name of a range states; nullopt for all other names. Known are
///
/// - `prefill tokens=512 context=0` and `decode batch=8 context=1024`, in which `context` may be left out, and
///   `mixed tokens=480 context=0 batch=32 decode_context=700`, likewise; behind ` prompts=3` the first and the last
///   read tokens of so many prompts;
/// - SGLang's `step[DECODE bs=32]`, `step[EXTEND bs=1 toks=512]`;
/// - vLLM's `execute_context_1(512)_generation_0(0)`, and the longer form of its forks with `sq` and `sk` sums.
///
/// Of SGLang and vLLM a step of several prompts counts as one prompt of all their tokens, and contexts are means.
std::optional<StepSize> step_size_of(std::string_view range);

}  // namespace corun
