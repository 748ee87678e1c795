#include "traces/base/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "traces/base/error.h"

namespace corun {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

// A file that is being written: gone again unless it is kept.
class NewFile {
 public:
  NewFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (descriptor_ != -1) ::close(descriptor_);
    if (!is_kept_) ::unlink(name_.c_str());
  }

  void write(std::string_view bytes, const std::string& path) {
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMostAtOnce));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write", path);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("cannot write", path);
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("cannot write", path);
  }

  void rename_to(const std::string& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) fail("cannot replace", path);
    keep();
  }

  void keep() { is_kept_ = true; }
  const std::string& name() const { return name_; }

 private:
  [[noreturn]] static void fail(const char* what, const std::string& path) {
    throw Error(ErrorKind::kDevice, SourceLocation{path}, fmt::format("{} it: {}", what, reason(errno)));
  }

  int descriptor_;
  std::string name_;
  bool is_kept_ = false;
};

[[noreturn]] void fail_to_create(const std::string& path, int error_number) {
  if (error_number == EEXIST) {
    throw Error(ErrorKind::kInput, SourceLocation{path}, "the file exists, expected a new name",
                "`-f` replaces it; or choose another name");
  }
  throw_input(SourceLocation{path}, "cannot create it: {}", reason(error_number));
}

void create(const std::string& path, std::string_view bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnerOnly);
  if (descriptor < 0) fail_to_create(path, errno);
  NewFile file{descriptor, path};
  file.write(bytes, path);
  file.keep();
}

NewFile beside(const std::string& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw_input(SourceLocation{path}, "not a regular file, expected one that can be replaced");
  }
  std::string name = path + ".XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail_to_create(path, errno);
  return {descriptor, name};
}

void replace(const std::string& path, std::string_view bytes) {
  NewFile file = beside(path);
  file.write(bytes, path);
  file.rename_to(path);
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes, bool overwrite) {
  if (overwrite) {
    replace(path, bytes);
  } else {
    create(path, bytes);
  }
}

void write_file_by(const std::string& path, bool overwrite, const std::function<void(const std::string& name)>& fill) {
  const auto refuse_existing = [&] {
    struct stat status;
    if (!overwrite && ::lstat(path.c_str(), &status) == 0) fail_to_create(path, EEXIST);
  };
  refuse_existing();
  NewFile file = beside(path);
  fill(file.name());
  refuse_existing();
  file.rename_to(path);
}

}  // namespace corun
