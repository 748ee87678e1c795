#include "tracer/record/parts_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "traces/base/error.h"
#include "traces/parts/part_record.h"

namespace corun::record {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kOwnerOnly = S_IRWXU;
constexpr const char* kMemory = "/session";

std::string reason() { return std::generic_category().message(errno); }

bool is_folder_of_ours(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), kOwnerOnly) == 0) return;
  const std::string help = errno == EACCES || errno == EROFS ? "choose a folder that can be written to with -o" : "";
  throw Error(ErrorKind::kInput, SourceLocation{path}, "cannot make the folder of the parts: " + reason(), help);
}

void refuse_a_running_one(const PartsFolder& folder) {
  const std::vector<std::int64_t> writing = folder.writing();
  if (writing.empty()) return;
  throw Error(ErrorKind::kInput, SourceLocation{folder.path()},
              fmt::format("process {} still writes its part here", writing[0]), "wait until it has ended");
}

void delete_parts(const std::vector<std::string>& parts, const std::string& folder) {
  for (const std::string& part : parts) ::unlink(part.c_str());
  ::unlink((folder + kMemory).c_str());
}

}  // namespace

/// A lock that a file system does not know is no reason to refuse: the living writers still are.
PartsFolder::Lock::Lock(const std::string& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(descriptor_);
  throw Error(ErrorKind::kInput, SourceLocation{folder}, "a recording still runs in this folder",
              "wait until it has ended");
}

PartsFolder::Lock::~Lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

PartsFolder PartsFolder::make(const std::string& path, bool overwrite) {
  const std::string absolute = fs::absolute(path).lexically_normal().string();
  struct stat status {};
  const bool is_there = ::lstat(path.c_str(), &status) == 0;
  if (is_there && !overwrite) {
    throw Error(ErrorKind::kInput, SourceLocation{path}, "the parts of an earlier recording are here",
                "`simtrace merge` finishes it; -f deletes it");
  }
  if (is_there && !is_folder_of_ours(path))
    throw_input(SourceLocation{path}, "this is no folder of yours, expected a name for a new one");
  if (is_there) {
    const PartsFolder old(absolute);
    refuse_a_running_one(old);
    if (!old.remove())
      throw_input(SourceLocation{path}, "cannot delete the folder: it holds files that are no parts of a recording");
  }
  make_folder(absolute);
  return PartsFolder(absolute);
}

PartsFolder PartsFolder::open(const std::string& path) {
  if (!is_folder_of_ours(path))
    throw_input(SourceLocation{path}, "no folder of yours, expected the `.parts` folder of a recording");
  return PartsFolder(fs::canonical(path).string());
}

void PartsFolder::make_untraced() const { make_folder(untraced_path()); }

std::vector<std::string> PartsFolder::parts_in(const std::string& folder) {
  std::vector<std::string> parts;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".part" && !entry.is_symlink(ignored)) parts.push_back(entry.path().string());
  std::ranges::sort(parts);
  return parts;
}

void PartsFolder::remember(const std::string& name, std::int64_t value) const {
  const int memory = ::open((path_ + kMemory).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  const std::string line = fmt::format("{} {}\n", name, value);
  const bool is_written = memory >= 0 && ::write(memory, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const std::string why = reason();
  if (memory >= 0) ::close(memory);
  if (!is_written) throw Error(ErrorKind::kDevice, SourceLocation{path_ + kMemory}, "cannot write it: " + why);
}

std::map<std::string, std::int64_t> PartsFolder::memory() const {
  std::ifstream file(path_ + kMemory);
  std::map<std::string, std::int64_t> memory;
  std::string name;
  for (std::int64_t value = 0; file >> name >> value;) memory[name] = value;
  return memory;
}

std::vector<std::int64_t> PartsFolder::writing() const {
  std::vector<std::int64_t> processes;
  for (const std::vector<std::string>& some : {parts(), untraced_parts()})
    for (const std::string& part : some)
      if (const PartWriter writer = writer_of(part); writer.is_alive && !has_end(part))
        processes.push_back(writer.process);
  return processes;
}

bool PartsFolder::remove() const {
  delete_parts(untraced_parts(), untraced_path());
  ::rmdir(untraced_path().c_str());
  delete_parts(parts(), path_);
  return ::rmdir(path_.c_str()) == 0;
}

std::uint64_t total_bytes(const std::vector<std::string>& files) {
  std::uint64_t bytes = 0;
  for (const std::string& file : files) {
    struct stat status {};
    if (::lstat(file.c_str(), &status) == 0) bytes += static_cast<std::uint64_t>(status.st_size);
  }
  return bytes;
}

std::string process_field(std::int64_t process, int number) {
  std::ostringstream text;
  text << std::ifstream(fmt::format("/proc/{}/stat", process)).rdbuf();
  const std::string stat = text.str();
  const std::size_t name_end = stat.rfind(')');  // the name before it may hold anything
  if (name_end == std::string::npos) return "";
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= number; ++i) fields >> field;
  return field;
}

PartWriter writer_of(const std::string& part) {
  const std::string name = fs::path(part).filename().string();
  PartWriter writer;
  std::uint64_t start = 0;
  const char* end = name.data() + name.size();
  const auto [dash, error] = std::from_chars(name.data(), end, writer.process);
  if (error != std::errc{} || dash == end || std::from_chars(dash + 1, end, start).ec != std::errc{}) return {};
  const bool is_same = process_field(writer.process, 22) == std::to_string(start);
  writer.is_alive = is_same && process_field(writer.process, 3) != "Z";
  return writer;
}

bool has_end(const std::string& part) {
  part::EndRecord last{};
  std::ifstream file(part, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(sizeof(last)), std::ios::end);
  file.read(reinterpret_cast<char*>(&last),
            sizeof(last));  // guests compress nothing, so a chunk ends as its records do
  return file.good() && last.head.type == part::RecordType::kEnd && last.head.size == sizeof(last) &&
         last.head.reserved == 0 && last.reserved == 0;
}

}  // namespace corun::record
