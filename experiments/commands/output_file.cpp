#include "experiments/commands/output_file.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "experiments/base/json.h"
#include "traces/base/error.h"
#include "traces/base/streams.h"
#include "traces/base/write_file.h"

namespace corun {

void write_output(const CommonOptions& common, const std::string& path, std::string_view bytes, bool overwrite,
                  std::string_view advice) {
  if (path != kStandardOutput) {
    write_file(path, bytes, overwrite);
    return say_written(common, path, advice);
  }
  check_output(common, path);
  put_out(bytes);
}

void check_output(const CommonOptions& common, const std::string& path) {
  if (common.json && path == kStandardOutput)
    throw Error(ErrorKind::kInput, {path}, "standard output cannot be both the file and the JSON about it",
                "leave --json out, or name a file");
}

void write_output_by(const std::function<void(const std::string& name)>& fill) {
  std::string folder = (std::filesystem::temp_directory_path() / "corun-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    throw Error(ErrorKind::kDevice, {folder}, fmt::format("cannot make a folder: {}", std::strerror(errno)));
  const std::unique_ptr<const std::string, void (*)(const std::string*)> removed(
      &folder, [](const std::string* made) { std::filesystem::remove_all(*made); });
  const std::string path = folder + "/output";
  fill(path);
  std::ifstream file(path, std::ios::binary);
  std::string part(std::size_t{1} << 20, '\0');
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0)
    put_out(std::string_view(part).substr(0, static_cast<std::size_t>(file.gcount())));
}

void say_written(const CommonOptions& common, const std::string& path, std::string_view advice) {
  const auto bytes = std::filesystem::file_size(path);
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("output", path).field("bytes", bytes).end();
    print_out("{}\n", json.text());
  } else {
    print_out("written to   {} ({} bytes){}\n", printable(path), bytes, advice);
  }
}

}  // namespace corun
