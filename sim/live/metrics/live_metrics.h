#pragma once

#include <string>

#include "sim/live/metrics/figures_board.h"
#include "sim/live/metrics/metrics_server.h"

namespace corun::live {

/// What a command tells operators of its live runs, one after another: figures of the scheduler, served as text. They
/// are made when they are read, at most ten times a second however often that is.
class LiveMetrics {
 public:
  /// `version` is that of this program. Throws as MetricsServer does.
  LiveMetrics(const ListenAddress& address, std::string version);

  /// For the scheduler.
  FiguresBoard& board() { return board_; }
  /// Where they can be read: "http://127.0.0.1:9400/metrics".
  std::string url() const;

 private:
  const std::string& text();

  const std::string version_;
  FiguresBoard board_;
  std::string text_;  // of the server's thread
  Time made_;         // when that was made
  executor::WallClock clock_;
  MetricsServer server_;
};

/// Operators are told of a run while this lives, and read of it until the next one.
class ToldRun {
 public:
  explicit ToldRun(FiguresBoard& board) : board_(board), number_(board.begin_run()) {}
  ~ToldRun() { board_.end_run(); }
  ToldRun(const ToldRun&) = delete;
  ToldRun& operator=(const ToldRun&) = delete;

  std::uint64_t number() const { return number_; }

 private:
  FiguresBoard& board_;
  const std::uint64_t number_;
};

}  // namespace corun::live
