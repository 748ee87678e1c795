#pragma once

#include <cstdint>

#include "tracer/gl/query_api.h"

namespace corun::gl {

/// What a frame of one GL context is made of: in a sampled frame the GPU stamps what lies between the calls that give
/// it work, or between every n of them where there are kMostPieces or more, and between passes (kMostPasses at most;
/// what follows is told apart no more). How many calls share a piece is known from the sample before; the first one
/// only counts them.
///
/// One sample is in the making or in flight at a time. It is kept if all of its frame was stamped; a frame of more than
/// kMostCalls calls is given up after so many. So a sample costs at most that many looks at a counter and kMostStamps
/// stamps. One thread at a time; GL is called only with the context current.
class DrawSample {
 public:
  struct Stamp {
    unsigned query;
    std::uint16_t calls;  ///< since the stamp before; 0: a visit begins
    bool begins_pass;     ///< the first of these calls is the first of a pass
  };

  /// Before every visit, of whichever frame: the frame before is over then.
  void meet(std::uint64_t frame);
  /// Before the first call of a visit of that frame, which is to be sampled.
  void begin_visit(const QueryApi& api, std::uint32_t swapchain);
  /// Before each further call, as long as the sample wants_calls(). `may_stamp`: GL allows it here.
  void call(const QueryApi& api, bool may_stamp);
  /// The next call is the first of a pass; so is the first call of a visit.
  void end_pass() { ends_pass_ = true; }
  void end_visit(const QueryApi& api);
  bool wants_calls() const { return is_in_visit_; }

  /// All stamps of a frame are on their way.
  bool is_in_flight() const { return state_ == State::kInFlight; }
  std::uint32_t stamp_count() const { return stamp_count_; }
  const Stamp& stamp(std::uint32_t i) const { return stamps_[i]; }
  const Stamp& last_stamp() const { return stamps_[stamp_count_ - 1]; }
  std::uint64_t frame() const { return frame_; }
  std::uint32_t swapchain() const { return swapchain_; }
  /// Room for the next one.
  void forget();

  /// Of how many frames one is sampled. A prime: what a game does every second or fourth frame is met as often as it
  /// is.
  static constexpr std::uint64_t kPeriod = 61;
  static constexpr std::uint32_t kMostPieces = 256;
  static constexpr std::uint32_t kMostPasses = 128;
  static constexpr std::uint32_t kMostStamps = 2 * kMostPieces;  ///< a visit takes one more than it has pieces
  static constexpr std::uint32_t kMostCalls = 16'384;

 private:
  enum class State : std::uint8_t { kIdle, kOpen, kInFlight };

  void make_queries(const QueryApi& api);
  bool is_due() const;
  void take_stamp(const QueryApi& api);

  State state_ = State::kIdle;
  bool is_in_visit_ = false;
  bool is_new_frame_ = false;  // no visit of it came before
  bool has_queries_ = false;
  bool ends_pass_ = false;         // before the next call
  bool begins_pass_ = false;       // the piece in the making does
  bool is_whole_ = false;          // all of the frame was stamped so far
  std::uint32_t known_calls_ = 0;  // of the sample before; 0: none yet
  std::uint32_t calls_ = 0;
  std::uint32_t calls_since_stamp_ = 0;
  std::uint32_t stamp_count_ = 0;
  std::uint32_t pass_count_ = 0;
  std::uint32_t swapchain_ = 0;
  std::uint64_t met_frame_ = 0;
  std::uint64_t frame_ = 0;
  Stamp stamps_[kMostStamps] = {};
};

}  // namespace corun::gl
