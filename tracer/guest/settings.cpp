#include "tracer/guest/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace corun::guest {
namespace {

// Programs that start the one that is meant: recording them would only make empty parts, or harm a launcher.
constexpr const char* kDenied[] = {
    "bash",           "dash",       "env",          "gameoverlayui",
    "ld.so",          "nice",       "nohup",        "pressure-vessel-wrap",
    "pv-bwrap",       "reaper",     "setsid",       "sh",
    "simtrace",       "srt-bwrap",  "steam",        "steam-launch-wrapper",
    "steamwebhelper", "stdbuf",     "taskset",      "time",
    "timeout",        "wineserver", "wineserver64", "winedevice.exe",
    "xvfb-run",       "zsh",
};

const char* value_of(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

// Digits of a number up to its end or to `stop`; `otherwise` where there is anything else.
std::uint64_t number(const char* text, std::uint64_t otherwise, const char** stop = nullptr) {
  char* end = nullptr;
  const bool begins_well = *text >= '0' && *text <= '9';
  const std::uint64_t value = begins_well ? strtoull(text, &end, 10) : otherwise;
  if (!begins_well) return otherwise;
  if (stop != nullptr) *stop = end;
  return stop == nullptr && *end != '\0' ? otherwise : value;
}

std::int64_t instant(const char* name, std::int64_t otherwise) {
  const std::uint64_t value = number(value_of(name), static_cast<std::uint64_t>(otherwise));
  return value > INT64_MAX ? otherwise : static_cast<std::int64_t>(value);
}

void copy_path(char (&out)[4096], const char* path) {
  const std::size_t length = strlen(path);
  out[0] = '\0';
  if (path[0] == '/' && length < sizeof(out)) memcpy(out, path, length + 1);
}

void read_frames(Settings& settings) {
  const char* rest = "";
  const std::uint64_t first = number(value_of("CORUN_TRACE_FRAMES"), 0, &rest);
  if (first == 0 || strncmp(rest, "..", 2) != 0) return;
  settings.first_frame = first;
  settings.last_frame = number(rest + 2, UINT64_MAX);
}

void read_cuda(Settings& settings) {
  const char* detail = value_of("CORUN_TRACE_CUDA");
  settings.cuda = strcmp(detail, "off") != 0;
  settings.cuda_idle = strcmp(detail, "idle") == 0;
  if (settings.cuda_idle) settings.cuda_detail = part::Detail::kNone;
  if (strcmp(detail, "kernels") == 0) settings.cuda_detail = part::Detail::kKernels;
  if (strcmp(detail, "count") == 0) settings.cuda_detail = part::Detail::kCount;
}

bool may_record(const Settings& settings) {
  char name[256];
  program_name(name, sizeof(name));
  const bool is_meant = settings.only_pid == 0 || settings.only_pid == static_cast<std::uint32_t>(getpid());
  return is_meant && !is_denied_program(name);
}

}  // namespace

bool is_denied_program(const char* base_name) {
  for (const char* denied : kDenied) {
    if (strcmp(base_name, denied) == 0) return true;
  }
  return false;
}

void program_name(char* out, std::uint32_t size) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  path[length > 0 ? length : 0] = '\0';
  const char* slash = strrchr(path, '/');
  const char* name = slash == nullptr ? path : slash + 1;
  const std::size_t kept = strnlen(name, size - 1);
  memcpy(out, name, kept);
  out[kept] = '\0';
}

Settings read_settings() {
  Settings settings{};
  copy_path(settings.directory, value_of("CORUN_TRACE_DIR"));
  copy_path(settings.cupti_path, value_of("CORUN_TRACE_CUPTI"));
  settings.only_pid = static_cast<std::uint32_t>(number(value_of("CORUN_TRACE_ONLY_PID"), 0));
  settings.from_ns = instant("CORUN_TRACE_FROM_NS", settings.from_ns);
  settings.until_ns = instant("CORUN_TRACE_UNTIL_NS", settings.until_ns);
  settings.max_bytes = number(value_of("CORUN_TRACE_MAX_BYTES"), settings.max_bytes);
  settings.redact_names = strcmp(value_of("CORUN_TRACE_REDACT"), "names") == 0;
  settings.gl = strcmp(value_of("CORUN_TRACE_GL"), "off") != 0;
  settings.vulkan = strcmp(value_of("CORUN_TRACE_VULKAN"), "off") != 0;
  read_frames(settings);
  read_cuda(settings);
  if (!may_record(settings)) settings.directory[0] = '\0';
  return settings;
}

}  // namespace corun::guest
