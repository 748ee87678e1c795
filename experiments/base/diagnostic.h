#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "traces/base/error.h"

namespace corun {

/// One thing that is wrong with an input, with everything its reader needs to put it right.
struct Diagnostic {
  std::string code;  ///< stable: "E0203"; the families are listed in docs/experiment.md
  SourceLocation where;
  std::string message;                  ///< what was found
  std::string label = {};               ///< beside the underlined text: "did you mean `guard`?"
  std::vector<std::string> notes = {};  ///< what was expected, what there is
  std::string help = {};                ///< what to do
  std::string source_line = {};         ///< the line at `where`; empty = not known
};

enum class DiagnosticStyle : std::uint8_t {
  kFull,   ///< with the source line and the place underlined
  kShort,  ///< `file:line:column: error[E0203]: message`, one line each
};

/// How diagnostics look on a terminal; control characters of the input never reach it, and of long texts and source
/// lines only a part does.
std::string render(const Diagnostic& diagnostic, DiagnosticStyle style, bool with_color);

/// An `Error` of other parts of the project as a diagnostic.
Diagnostic to_diagnostic(const Error& error);

/// Everything that is wrong with an input, thrown at once. `what()` is the first one.
class InvalidInput : public Error {
 public:
  explicit InvalidInput(std::vector<Diagnostic> diagnostics, std::size_t suppressed = 0,
                        ErrorKind kind = ErrorKind::kInput);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  std::size_t suppressed() const { return suppressed_; }  ///< how many more there were

 private:
  std::vector<Diagnostic> diagnostics_;
  std::size_t suppressed_;
};

/// Collects diagnostics while an input is read, so that all of them can be shown at once. It takes little memory and
/// time for each, however many there are: those that would not be shown are counted only. One thread.
class Diagnostics {
 public:
  static constexpr std::size_t kMaxShown = 20;

  /// Makes the lines of a file known, for underlining. The first file added comes first in the order of diagnostics.
  void add_source(const std::string& file, std::string_view text);
  void add(Diagnostic diagnostic);
  /// Records an Error thrown by another part; without a location of its own it gets `where`.
  void add(const Error& error, const SourceLocation& where);
  bool empty() const { return known_.empty(); }
  std::size_t count() const { return known_.size(); }
  /// The line at `where`, "" if its file is not known.
  std::string line_of(const SourceLocation& where) const;

  /// Throws InvalidInput with what was found, in file order, at most kMaxShown; does nothing if all is well. Its kind
  /// is that of the errors that were added where all of them have the same, else kInput.
  void throw_if_any();

 private:
  static constexpr std::size_t kMostKept = 16 * kMaxShown;

  void keep(Diagnostic diagnostic);
  void sort_found();

  std::vector<std::string> files_;
  std::map<std::string, std::vector<std::string>, std::less<>> lines_;
  std::unordered_set<std::uint64_t> known_;  // hashes of places and messages
  std::vector<Diagnostic> found_;            // the first of them in file order, and some more
  std::optional<ErrorKind> kind_;            // of all that was found
};

}  // namespace corun
