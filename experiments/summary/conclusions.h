#pragma once

#include <string>
#include <vector>

namespace corun {

/// Means of one client under one policy; NaN where there is no such figure.
struct ClientUnderPolicy {
  std::string name;
  double fps;
  double throughput_per_s;
  double alone_per_s;
  double quality;
  bool is_game() const { return fps == fps; }
};

struct PolicyMeans {
  std::string name;
  double harvest;  ///< NaN where no game shares with other work
  std::vector<ClientUnderPolicy> clients;
};

/// One or two sentences on what a table means: which policy keeps the games whole and harvests most, and what the
/// one that harvests more than it costs them; for games alone, how slow the slowest is; for other work alone, how much
/// of its speed is left. Clients that a policy turned away are not among its own.
std::vector<std::string> conclusions(std::vector<PolicyMeans> policies);

}  // namespace corun
