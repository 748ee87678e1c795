#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "traces/parts/part_reader.h"

namespace corun {

/// How one run of the program under the injected library went.
struct Outcome {
  int status = 0;  ///< as waitpid() gives it
  std::string output;
  std::string complaints;  ///< its stderr
  std::vector<PartContent> parts;
  std::size_t empty_parts = 0;  ///< of programs that were gone before anything was written

  bool has_ended_as_without() const;
  /// The only part. Fails the test where there is not just one.
  const PartContent& part() const;
  std::uint64_t lost(part::LossReason reason) const;
  /// What the part gives as its last words, "" if nothing.
  std::string last_words() const;
};

/// A run of fake_cuda_app with libcorun_cuda.so injected, in a folder of its own and under a script for the fake
/// libcupti (see fake_cupti.cpp).
class Injection {
 public:
  Injection();
  ~Injection();

  Injection& script(const std::string& lines);
  Injection& mode(const std::string& mode);
  Injection& launches(std::uint32_t count);
  Injection& set(const std::string& variable, const std::string& value);
  /// Another libcupti than the fake one with all functions.
  Injection& cupti(const std::string& path);

  /// A program that has not ended after kMostSeconds ends by SIGALRM: nothing else would end one that is held up.
  Outcome run();
  static constexpr unsigned kMostSeconds = 30;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> environment_;
  std::string cupti_;
  std::string mode_ = "exit";
  std::uint32_t launches_ = 100;
};

}  // namespace corun
