#include "tracer/gl/query_api.h"

#include <stdlib.h>
#include <string.h>

namespace corun::gl {
namespace {

constexpr unsigned kVersion = 0x1F02, kRenderer = 0x1F01, kExtensions = 0x1F03, kExtensionCount = 0x821D;
constexpr unsigned kTimestamp = 0x8E28, kCounterBits = 0x8864, kResult = 0x8866, kAvailable = 0x8867;
constexpr unsigned kDisjoint = 0x8FBB, kViewport = 0x0BA2, kQueryBuffer = 0x9193;

struct Context {
  QueryApi::FindFunction find;
  bool is_es;
  int version;  // 33 is 3.3

  template <class Function>
  void get(Function*& out, const char* name) const {
    out = reinterpret_cast<Function*>(find(name));
  }
};

using GetString = const char*(unsigned name);
using GetStringI = const char*(unsigned name, unsigned index);

// "OpenGL ES 3.2 Mesa 22", "4.5 (Core Profile) Mesa 22", "OpenGL ES-CM 1.1"
int number_of(const char* version) {
  while (*version != '\0' && (*version < '0' || *version > '9')) ++version;
  char* end = nullptr;
  const long major = strtol(version, &end, 10);
  const long minor = *end == '.' ? strtol(end + 1, nullptr, 10) : 0;
  return static_cast<int>(major * 10 + (minor < 10 ? minor : 9));
}

bool has_word(const char* words, const char* word) {
  const std::size_t length = strlen(word);
  for (const char* at = words; at != nullptr && (at = strstr(at, word)) != nullptr; at += length) {
    if (at[length] == ' ' || at[length] == '\0') return true;
  }
  return false;
}

// Asked in the way that this version allows, since the other one would be an error in the program's context.
bool has_extension(const Context& context, const QueryApi& api, const char* name) {
  GetString* get_string = nullptr;
  GetStringI* get_string_i = nullptr;
  context.get(get_string, "glGetString");
  context.get(get_string_i, "glGetStringi");
  if (context.version < 30) return has_word(get_string(kExtensions), name);
  int count = 0;
  if (get_string_i != nullptr) api.get_integer(kExtensionCount, &count);
  for (int i = 0; i < count; ++i) {
    const char* extension = get_string_i(kExtensions, static_cast<unsigned>(i));
    if (extension != nullptr && strcmp(extension, name) == 0) return true;
  }
  return false;
}

// "zink Vulkan 1.3 (...)", "ANGLE (NVIDIA, Vulkan 1.3.242 (...), ...)"
bool is_over_vulkan(const char* renderer) {
  if (strncmp(renderer, "zink", 4) == 0) return true;
  return strncmp(renderer, "ANGLE (", 7) == 0 && strstr(renderer, "Vulkan ") != nullptr;
}

bool may_query(const Context& context, const QueryApi& api) {
  if (context.is_es) return context.version >= 20 && has_extension(context, api, "GL_EXT_disjoint_timer_query");
  return context.version >= 33 || (context.version >= 15 && has_extension(context, api, "GL_ARB_timer_query"));
}

void load_functions(const Context& context, QueryApi& api) {
  const bool is_es = context.is_es;
  void (*get_query)(unsigned, unsigned, int*) = nullptr;
  context.get(api.gen_queries, is_es ? "glGenQueriesEXT" : "glGenQueries");
  context.get(api.query_counter, is_es ? "glQueryCounterEXT" : "glQueryCounter");
  context.get(api.get_query_state, is_es ? "glGetQueryObjectuivEXT" : "glGetQueryObjectuiv");
  context.get(api.get_query_result, is_es ? "glGetQueryObjectui64vEXT" : "glGetQueryObjectui64v");
  context.get(api.get_integer64, is_es && context.version < 30 ? "glGetInteger64vEXT" : "glGetInteger64v");
  context.get(get_query, is_es ? "glGetQueryivEXT" : "glGetQueryiv");
  if (!api.gen_queries || !api.query_counter || !api.get_query_state || !api.get_query_result) return;
  if (!api.get_integer64 || !get_query) return;
  int bits = 0;
  get_query(kTimestamp, kCounterBits, &bits);
  std::int64_t now = 0;
  api.has_queries = bits >= 30 && api.read_clock(now);
  api.bits = bits < 64 ? static_cast<std::uint32_t>(bits) : 64;
}

}  // namespace

QueryApi load_query_api(QueryApi::FindFunction find) {
  QueryApi api;
  Context context{find, false, 0};
  GetString* get_string = nullptr;
  context.get(get_string, "glGetString");
  context.get(api.get_integer, "glGetIntegerv");
  const char* version = get_string == nullptr ? nullptr : get_string(kVersion);
  if (version == nullptr || api.get_integer == nullptr) return api;
  context.is_es = strncmp(version, "OpenGL ES", 9) == 0;
  context.version = number_of(version);
  const char* renderer = get_string(kRenderer);
  if (renderer != nullptr) api.renderer = renderer;
  api.is_over_vulkan = is_over_vulkan(api.renderer);
  api.can_be_disjoint = context.is_es;
  api.can_have_buffer = !context.is_es && context.version >= 30 &&
                        (context.version >= 44 || has_extension(context, api, "GL_ARB_query_buffer_object"));
  if (may_query(context, api)) load_functions(context, api);
  return api;
}

void QueryApi::stamp(unsigned query) const { query_counter(query, kTimestamp); }

bool QueryApi::may_fetch() const {
  if (!can_have_buffer) return true;
  int buffer = 0;
  get_integer(kQueryBuffer, &buffer);
  return buffer == 0;
}

bool QueryApi::is_available(unsigned query) const {
  unsigned is_there = 0;
  get_query_state(query, kAvailable, &is_there);
  return is_there != 0;
}

std::uint64_t QueryApi::result(unsigned query) const {
  std::uint64_t value = 0;
  get_query_result(query, kResult, &value);
  return value;
}

bool QueryApi::read_clock(std::int64_t& gpu_ns) const {
  gpu_ns = INT64_MIN;
  get_integer64(kTimestamp, &gpu_ns);
  return gpu_ns != INT64_MIN;
}

bool QueryApi::was_disjoint() const {
  if (!can_be_disjoint) return false;
  int is_disjoint = 0;
  get_integer(kDisjoint, &is_disjoint);
  return is_disjoint != 0;
}

void QueryApi::read_viewport(std::uint32_t& width, std::uint32_t& height) const {
  int box[4] = {0, 0, 0, 0};
  if (get_integer != nullptr) get_integer(kViewport, box);
  width = box[2] > 0 ? static_cast<std::uint32_t>(box[2]) : 0;
  height = box[3] > 0 ? static_cast<std::uint32_t>(box[3]) : 0;
}

}  // namespace corun::gl
