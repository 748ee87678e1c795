#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/figures/server_share.h"
#include "experiments/advise/figures/spread.h"
#include "experiments/bands/basis.h"
#include "experiments/fit/question.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// Sessions at once, and what the worst of them has: of each figure its own worst, a mean over seeds.
struct FitPoint {
  int sessions = 0;
  Basis basis{};  ///< of this way of sharing, where it is one
  std::optional<Spread> fps, low, p99_ms, missed;
  std::optional<Spread> quality;            ///< of games with a choice of it
  std::vector<std::optional<Spread>> kept;  ///< by filler: rate over its rate alone
  /// Of fps and kept: see figure_band(). nullopt: too few co-runs like it were measured.
  std::optional<Spread> fps_band;
  std::vector<std::optional<Spread>> kept_band;
  std::optional<Spread> copies_kept, copies_band;  ///< of the copy of a program without frames that keeps least
  std::map<std::string, ServerShare> servers{};    ///< by program; of the counted one's copies the worst in each figure
  bool holds = true;         ///< every session holds the rate, at both ends of what is not known, and all servers their
                             ///< promises by their figures
  bool surely_holds = true;  ///< the same, of servers by their bands
  bool may_hold = false;     ///< at one of these ends; servers at the better ends of their bands
};

/// What a policy makes of more and more sessions.
struct FitCurve {
  std::string policy;
  bool has_fillers = false;
  Basis basis{};                   ///< how it is known what the policy does on this GPU, where programs share it
  std::string refused{};           ///< why the policy cannot be tried; "" = it was
  std::vector<FitPoint> points{};  ///< rising; those that were simulated
  int sessions = 0;                ///< most that hold, at both ends of what is not known
  int surely = 0;                  ///< also if the model is off by kGameError, or by bands: see fit()
  int perhaps = 0;                 ///< if the model is off by it the other way, at one end of what is not known
};

struct FitAnswer {
  std::vector<FitCurve> curves;  ///< without fillers, then with them; policies as asked
  FitSetting setting{};
  bool has_unknown_draws = false;
  bool has_slower_hosts = false;  ///< of some points: they hold what they hold with quick and with slow hosts
  /// Of one session alone, where waits of its host keep it a little below the rate: all are held to 99 % of it then.
  std::optional<double> own_fps{};
  bool is_lower_bound = false;        ///< frames were captured on an idle device, whose clock may have been low
  std::string whose_times{};          ///< a sentence where they are not surely those of the GPU asked about
  std::vector<std::string> warnings;  ///< of the replays, each once
};

/// Frame rates of 35 measured sets of sessions were at most 8.2 % off what uncapped captures predict
/// (studies/sessions).
inline constexpr double kGameError = 0.08;

/// Simulates one session, then more, until they hold the frame rate no longer, by halving where there are many.
/// `surely` are as many as hold kGameError more frames per second, `perhaps` as hold so many fewer; of servers as many
/// as keep their promises at the upper and at the lower ends of their bands. Next to a server the points begin at none.
/// Where the capture does not say what the device draws without a break, draws of 0.5 ms and of whole frames are the
/// ends, and where hosts may be slower in company (with_slower_hosts), hosts as alone and slower ones. `tick` is called
/// before each batch of simulations, with what it tries. Throws InvalidInput or Error where the captures cannot be
/// replayed, or the game's has no frames and there is no server.
FitAnswer fit(const FitQuestion& question, const PolicyRegistry& policies, unsigned jobs,
              const std::function<void(const std::string&)>& tick = {});

}  // namespace corun
