#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corun {

/// A program of which something is asked, as a client of an experiment.
struct AskedProgram {
  std::string name;                           ///< as in results; unlike all others
  std::string trace;                          ///< path of its capture; "" = it has none
  std::map<std::string, std::string> keys{};  ///< further keys of its client, as in experiments: solo_rate, "31/s"
  bool is_server() const { return keys.contains("server"); }
};

/// A frame rate that is promised is held from so much of it on: a display's 60 Hz may be 59.9.
inline constexpr double kHeldPart = 0.99;

/// "game" and "a.csv" of "game=a.csv"; no name where there is none, or a file is called so as a whole.
std::pair<std::string, std::string> name_and_file(const std::string& word);

/// Programs of these captures, called as in "game=a.csv", or else as their files, without endings and without what a
/// client's name cannot hold.
std::vector<AskedProgram> asked_programs(const std::vector<std::string>& traces);

/// Adds one of them to the others.
void add_captured(const std::string& word, std::vector<AskedProgram>& programs);
/// Adds a program whose name is made unlike those of the others.
void add_named(AskedProgram program, std::vector<AskedProgram>& programs);

/// The program that an option names. Throws Error(kInput) where there is none.
AskedProgram& program_called(std::vector<AskedProgram>& programs, const std::string& option, const std::string& name);

/// `rates`: "a=31/s"; `keys`: "game.pacing=60fps". Throws Error(kInput) where a word is wrong.
void state_keys(std::vector<AskedProgram>& programs, const std::vector<std::string>& rates,
                const std::vector<std::string>& keys);

/// Makes the path of its capture absolute: relative paths of an experiment begin at its folder, not here.
void make_absolute(AskedProgram& program);

/// What is assumed of a game whose draws are not known, and what states them; a sentence.
std::string unknown_draws_text(const std::string& game);

/// "PROGRAM=value" of an option. Throws Error(kInput) without `=`.
std::pair<std::string, std::string> assignment(const std::string& option, const std::string& text);

/// The value, if it is positive. Throws Error(kInput) otherwise: `example` says what was expected.
double positive(const std::string& option, const std::string& text, std::optional<double> value,
                const std::string& example);

/// "30ms" as 30; nullopt where it is no duration.
std::optional<double> milliseconds(const std::string& text);

/// The clients of a scenario in an experiment file, a line each below `clients:`.
std::string clients_text(const std::vector<AskedProgram>& programs);

/// In single quotes, as YAML takes any text.
std::string yaml_text(const std::string& text);

/// Its client in an experiment file: "{ name: a, trace: 'a.corun', solo_rate: 31/s }". `more` are keys unless the
/// program states them itself.
std::string client_text(const AskedProgram& program, const std::map<std::string, std::string>& more = {});

}  // namespace corun
