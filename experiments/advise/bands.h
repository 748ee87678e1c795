#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corun {

/// What is between prediction and hardware.
struct Band {
  double low = 1, high = 1;  ///< factors on a predicted figure; 90 % of what was measured lies between
  std::size_t count = 0;     ///< of measured figures that it rests on
};

/// How far predicted figures were off, in classes of what was measured: by figure ("kept", the part of its rate that a
/// program keeps, and "p99" of its frame or step times), by mechanism ("turns", "mps", "split", and "games": turns of
/// games and of programs next to them) and by what bounds the program: the device, the host, or frames. Made by
/// studies/bands/make.py, which says what of it is blind.
class Bands {
 public:
  /// A table with the columns figure,mechanism,bound,count,low,high; `bound` is "device", "host", "frames" or "any".
  explicit Bands(std::string_view csv);
  /// The built-in table.
  static const Bands& built_in();

  /// nullopt: nothing like it was ever measured.
  std::optional<Band> of(std::string_view figure, std::string_view mechanism, std::string_view bound) const;

 private:
  struct Row {
    std::string figure, mechanism, bound;
    Band band;
  };
  std::vector<Row> rows_;
};

}  // namespace corun
