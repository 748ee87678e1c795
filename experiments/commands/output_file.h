#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "experiments/commands/command_line.h"

namespace corun {

/// What stands for standard output where a command names a file to write.
inline constexpr std::string_view kStandardOutput = "-";

/// Writes what a command made to the file that `-o` names, as write_file() does, and says so: its name, its size and
/// `advice` on standard output, or all but the advice as JSON. Standard output itself, `-`, gets the bytes alone.
/// Throws Error(kInput) where both the bytes and JSON would go there, else as write_file().
void write_output(const CommonOptions& common, const std::string& path, std::string_view bytes, bool overwrite,
                  std::string_view advice);

/// Writes to standard output what `fill` writes to the file whose name it gets, a new one that is removed afterwards.
void write_output_by(const std::function<void(const std::string& name)>& fill);

/// Throws Error(kInput) where standard output would be both the file and JSON.
void check_output(const CommonOptions& common, const std::string& path);

/// Says the same of a file that was written.
void say_written(const CommonOptions& common, const std::string& path, std::string_view advice);

}  // namespace corun
