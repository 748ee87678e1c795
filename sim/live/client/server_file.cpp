#include "sim/live/client/server_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "traces/base/error.h"

namespace corun::live {

static_assert(std::endian::native == std::endian::little);

namespace {

using Said = std::array<std::int64_t, 2>;

}  // namespace

ServerFile::ServerFile(std::string path)
    : path_(std::move(path)), descriptor_(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
  const Said nothing{};
  if (descriptor_ < 0 || pwrite(descriptor_, nothing.data(), sizeof(nothing), 0) != sizeof(nothing))
    throw Error(ErrorKind::kDevice,
                fmt::format("cannot make the file of what a server says {}: {}", path_, std::strerror(errno)));
}

ServerFile::~ServerFile() {
  close(descriptor_);
  unlink(path_.c_str());
}

ServerView ServerFile::read(const executor::WallClock& clock) const {
  Said said{};
  if (pread(descriptor_, said.data(), sizeof(said), 0) != sizeof(said)) return {};
  const auto [oldest_ns, steps] = said;
  return {static_cast<std::uint64_t>(steps), oldest_ns > 0 ? clock.at(oldest_ns) : kNever};
}

}  // namespace corun::live
