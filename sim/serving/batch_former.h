#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/serving/step_size.h"

namespace corun {

/// Which steps an engine takes while prompts wait and sequences are being decoded.
enum class Batching : std::uint8_t {
  kPrefillFirst,  ///< prompts are read whole as soon as they fit; decoding goes on when none waits (Orca, vLLM v0)
  kChunked,       ///< a chunk of the oldest prompts, then one token of each sequence, in turns
  kMixed,         ///< both in one step (Sarathi, vLLM v1)
};

/// Which steps of an engine follow one another: all of them, or, where prompts are read while sequences are decoded,
/// those of one kind.
enum class StepLoop : std::uint8_t { kAll, kPrompts, kDecodes };

/// What an engine is configured with.
struct BatchLimits {
  Batching batching = Batching::kChunked;
  std::uint32_t max_batch = 0;         ///< sequences that are read or decoded at a time, > 0
  std::uint32_t chunk = 0;             ///< most tokens of prompts in one step, > 0; mixed: with those of the sequences
  std::uint32_t prompts_per_step = 1;  ///< most prompts of which a step reads tokens, > 0
  std::uint64_t kv_tokens = 0;         ///< tokens that the KV cache holds, > 0
  std::uint32_t max_queue = 0;         ///< requests that may wait; more are rejected. 0 = any number
};

/// Forms the steps of an engine with continuous batching, one after another.
///
/// Requests are admitted in the order in which they came, when a place in the batch is free and the KV cache has room
/// for all of their tokens, which stay reserved until they end: an engine that admits more and takes sequences back is
/// not modelled. The last step of a prompt gives the request's first token; each decode gives one more to each sequence
/// whose prompt has been read. A step's tokens are filled from prompts in order of arrival. Steps of two loops may be
/// under way at a time; batching then means nothing, and a decode is of the sequences whose prompts were read before.
class BatchFormer {
 public:
  explicit BatchFormer(const BatchLimits& limits) : limits_(limits) {}

  /// What a step did to requests, by their numbers.
  struct Progress {
    std::vector<std::size_t> began;  ///< got their first token
    std::vector<std::size_t> ended;  ///< got their last
  };

  /// A request comes, with tokens of prompt and output, each > 0. False: it was rejected.
  bool arrive(std::size_t request, std::uint32_t prompt, std::uint32_t output);
  /// Begins the loop's next step; nullopt where it has none. Decode contexts are those of the longest sequence. A
  /// mixed step gives each sequence its token before it reads a prompt: it reads none where the chunk has no more room.
  std::optional<StepSize> begin_step(StepLoop loop = StepLoop::kAll);
  /// The loop's step that was begun last has ended.
  Progress end_step(StepLoop loop = StepLoop::kAll);

  std::size_t waiting() const { return waiting_.size(); }
  /// The request that came first of those without a token.
  std::optional<std::size_t> oldest_unanswered() const;
  std::size_t sequences() const { return active_.size(); }
  std::uint64_t kv_tokens() const { return reserved_; }
  bool is_idle() const { return waiting_.empty() && active_.empty(); }
  /// Whether begin_step() has one, if no step of that loop is under way.
  bool has_step(StepLoop loop);
  /// Contexts of the sequences that the step decodes, summed.
  std::uint64_t decoded_context() const;

 private:
  struct Sequence {
    std::size_t request;
    std::uint32_t prompt, output;
    std::uint32_t read = 0, generated = 0;
    std::uint32_t reading = 0;      ///< tokens of its prompt that a step under way reads
    bool is_being_decoded = false;  ///< by a step under way
    bool is_read() const { return read == prompt; }
    std::uint64_t tokens() const { return std::uint64_t{prompt} + output; }
  };

  void admit();
  std::uint32_t longest_decoded() const;
  /// Tokens of prompts that the next step may read next to so many decodes.
  std::uint32_t room_for_prompts(std::uint32_t decodes) const;
  StepSize begin_prompts(std::uint32_t room);
  void give_token(Sequence& sequence, Progress& progress);

  const BatchLimits limits_;
  std::deque<Sequence> waiting_;
  std::vector<Sequence> active_;  ///< in the order in which they came
  std::uint64_t reserved_ = 0;
  bool is_decode_due_ = false;
};

}  // namespace corun
