#include "sim/engine/random.h"

#include <Random123/philox.h>
#include <xxhash.h>

#include <cmath>

#include "traces/base/error.h"

namespace corun {

namespace {

double polynomial(const double (&coefficients)[8], double x) {
  double value = coefficients[7];
  for (int i = 6; i >= 0; --i) value = value * x + coefficients[i];
  return value;
}

// Wichura's AS 241 (PPND16), Applied Statistics 37 (1988): relative accuracy about 1e-16. One uniform gives one
// normal, so the draw count, and with it every later number of the stream, never depends on the values drawn.
double normal_quantile(double p) {
  static constexpr double kCentreTop[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                           1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                           3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr double kCentreBottom[8] = {1.0,
                                              4.2313330701600911252e1,
                                              6.8718700749205790830e2,
                                              5.3941960214247511077e3,
                                              2.1213794301586595867e4,
                                              3.9307895800092710610e4,
                                              2.8729085735721942674e4,
                                              5.2264952788528545610e3};
  static constexpr double kMiddleTop[8] = {
      1.42343711074968357734e0, 4.63033784615654529590e0,  5.76949722146069140550e0,  3.64784832476320460504e0,
      1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kMiddleBottom[8] = {1.0,
                                              2.05319162663775882187e0,
                                              1.67638483018380384940e0,
                                              6.89767334985100004550e-1,
                                              1.48103976427480074590e-1,
                                              1.51986665636164571966e-2,
                                              5.47593808499534494600e-4,
                                              1.05075007164441684324e-9};
  static constexpr double kTailTop[8] = {
      6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,  2.96560571828504891230e-1,
      2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kTailBottom[8] = {1.0,
                                            5.99832206555887937690e-1,
                                            1.36929880922735805310e-1,
                                            1.48753612908506148525e-2,
                                            7.86869131145613259100e-4,
                                            1.84631831751005468180e-5,
                                            1.42151175831644588870e-7,
                                            2.04426310338993978564e-15};
  const double centred = p - 0.5;
  if (std::abs(centred) <= 0.425) {
    const double r = 0.180625 - centred * centred;
    return centred * polynomial(kCentreTop, r) / polynomial(kCentreBottom, r);
  }
  const double r = std::sqrt(-std::log(centred < 0 ? p : 1.0 - p));
  const double tail = r <= 5.0 ? polynomial(kMiddleTop, r - 1.6) / polynomial(kMiddleBottom, r - 1.6)
                               : polynomial(kTailTop, r - 5.0) / polynomial(kTailBottom, r - 5.0);
  return centred < 0 ? -tail : tail;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name)
    : key_{seed, XXH3_64bits(name.data(), name.size())} {}

std::uint64_t RandomStream::bits() {
  if (used_ == 4) {
    const r123::Philox4x64::ctr_type block = r123::Philox4x64()({{++counter_, 0, 0, 0}}, {{key_[0], key_[1]}});
    for (unsigned i = 0; i < 4; ++i) block_[i] = block[i];
    used_ = 0;
  }
  return block_[used_++];
}

double RandomStream::uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

double RandomStream::exponential(double mean) {
  CORUN_ASSERT(mean > 0, "exponential of mean {}", mean);
  return -mean * std::log1p(-uniform());
}

// The half step keeps the argument inside (0, 1), where the quantile is finite.
double RandomStream::normal() { return normal_quantile((static_cast<double>(bits() >> 12) + 0.5) * 0x1.0p-52); }

double RandomStream::lognormal(double mean, double cv) {
  CORUN_ASSERT(mean > 0 && cv >= 0, "lognormal of mean {} and coefficient of variation {}", mean, cv);
  const double variance = std::log1p(cv * cv);
  return mean * std::exp(std::sqrt(variance) * normal() - variance / 2);
}

}  // namespace corun
