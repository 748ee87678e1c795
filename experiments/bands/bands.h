#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corun {

/// A program that the device works for at least so much of the time, alone, is bound by the device, else by the host.
inline constexpr double kDeviceBound = 0.9;

/// And it keeps the device busy where that is so for so much of the time: its host waits for the device, mostly.
inline constexpr double kMostlyBusy = 0.75;

/// Ends the mechanism of programs of which one at least is a server: "turns with servers".
inline constexpr std::string_view kWithServers = " with servers";

/// What is between prediction and hardware.
struct Band {
  double low = 1, high = 1;  ///< factors on a predicted figure
  std::size_t count = 0;     ///< of measured figures that it rests on
};

/// Whether all was measured of what a figure is predicted for.
enum class Measured : std::uint8_t {
  kAll,   ///< 90 % of what was measured lies in the band
  kPart,  ///< of its class, but not so (another device, an unknown rate): all that was measured lies in it
};

/// How far predicted figures were off, in classes of what was measured: by figure ("kept", the part of its rate that a
/// program keeps, and "p99" of its frame or step times), by mechanism ("turns", "mps", "split", and "games": turns of
/// games and of programs next to them), by what bounds the program: the device, the host, or frames, and by the number
/// of programs: two, or more. Of programs that keep the device busy and whose counted kernels use SMs more than memory
/// there is "sms", too. With servers a mechanism is another one ("turns with servers"): of servers
/// ("requests") there are "kept" and the 99th percentiles "ttft" and "tpot", of programs next to them ("programs")
/// "kept". Made by studies/bands/make.py; its page says what of it is blind.
class Bands {
 public:
  /// A table with the columns figure,mechanism,bound,programs,count,low,high,least,most; `bound` is "device", "sms",
  /// "host", "frames", "requests", "programs" or "any", `programs` "2", "3+" or "any". The last two are ends of
  /// all residuals.
  explicit Bands(std::string_view csv);
  /// The built-in table.
  static const Bands& built_in();

  /// Of the class, or else of the mechanism whatever the number of programs or bound, or else, with servers, of all
  /// mechanisms ("any with servers"); where only pairs were measured, a band of more programs is that of
  /// Measured::kPart. nullopt: nothing like it was ever measured.
  std::optional<Band> of(std::string_view figure, std::string_view mechanism, std::string_view bound,
                         std::size_t programs, Measured measured = Measured::kAll) const;

 private:
  struct Row {
    std::string figure, mechanism, bound, programs;
    std::size_t count;
    double low, high, least, most;
  };
  const Row* find(std::string_view figure, std::string_view mechanism, std::string_view bound,
                  std::string_view programs) const;
  std::vector<Row> rows_;
};

}  // namespace corun
