#include "traces/name_cost.h"

#define HAVE_DECL_BASENAME 1  // else libiberty.h declares basename() in a way of its own
#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace corun {

const int kDemangleOptions = DMGL_PARAMS | DMGL_TYPES;

namespace {

constexpr std::size_t kLongestMangled = 1 << 10;  // the demanglers refuse longer ones
constexpr int kMostParsedTwice = 10;
constexpr std::uint64_t kMostSearched = 1'000;  // 83 at most among all symbols of a Debian's libraries
constexpr int kMostReferences = 20;             // by which a pattern can have as many parts

/// How many parts a component has, those that are named twice counted twice.
class Parts {
 public:
  std::uint64_t most_searched() const { return most_searched_; }

  std::uint64_t count(const demangle_component* part) {
    if (part == nullptr) return 0;
    const auto [known, is_new] = counts_.try_emplace(part, kMostSearched + 1);  // a circle has no end
    if (!is_new) return known->second;
    const std::uint64_t found = std::min(1 + count_below(*part), kMostSearched + 1);
    if (is_searched(*part)) most_searched_ = std::max(most_searched_, found);
    return counts_[part] = found;
  }

 private:
  std::uint64_t count_below(const demangle_component& part) {
    switch (part.type) {
      case DEMANGLE_COMPONENT_NAME:
      case DEMANGLE_COMPONENT_OPERATOR:
      case DEMANGLE_COMPONENT_BUILTIN_TYPE:
      case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
      case DEMANGLE_COMPONENT_SUB_STD:
      case DEMANGLE_COMPONENT_CHARACTER:
      case DEMANGLE_COMPONENT_NUMBER:
      case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
      case DEMANGLE_COMPONENT_FUNCTION_PARAM:
      case DEMANGLE_COMPONENT_UNNAMED_TYPE:
        return 0;
      case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
        return count(part.u.s_extended_operator.name);
      case DEMANGLE_COMPONENT_FIXED_TYPE:
        return count(part.u.s_fixed.length);
      case DEMANGLE_COMPONENT_CTOR:
        return count(part.u.s_ctor.name);
      case DEMANGLE_COMPONENT_DTOR:
        return count(part.u.s_dtor.name);
      case DEMANGLE_COMPONENT_LAMBDA:
      case DEMANGLE_COMPONENT_DEFAULT_ARG:
        return count(part.u.s_unary_num.sub);
      default:
        return count(part.u.s_binary.left) + count(part.u.s_binary.right);
    }
  }

  /// `Dp`, `sp`, `sZ` and `sP`.
  static bool is_searched(const demangle_component& part) {
    return part.type == DEMANGLE_COMPONENT_PACK_EXPANSION || part.type == DEMANGLE_COMPONENT_UNARY;
  }

  std::unordered_map<const demangle_component*, std::uint64_t> counts_;
  std::uint64_t most_searched_ = 0;
};

bool has_pack(std::string_view name) {
  return std::ranges::any_of(std::array{"Dp", "sp", "sZ", "sP"},
                             [name](std::string_view token) { return name.find(token) != name.npos; });
}

/// The places that may be references such as `S_` and `S1A_`, or `T0_I` with the text that follows.
int references(std::string_view name, char kind, std::string_view then = "") {
  int found = 0;
  for (std::size_t at = name.find(kind); at != name.npos; at = name.find(kind, at + 1)) {
    const std::size_t end = name.find('_', at);
    found += end != name.npos && name.substr(end + 1).starts_with(then);
  }
  return found;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// libiberty gives no tree of names whose `sr` is that of older compilers; their references are counted instead.
bool is_searched_soon(const char* mangled) {
  void* memory = nullptr;
  const demangle_component* root = cplus_demangle_v3_components(mangled, kDemangleOptions, &memory);
  const std::unique_ptr<void, Free> owner{memory};
  if (root == nullptr) return references(mangled, 'S') <= kMostReferences;
  Parts parts;
  parts.count(root);
  return parts.most_searched() <= kMostSearched;
}

}  // namespace

bool is_cheap_to_demangle(const char* mangled) {
  const std::string_view name{mangled};
  if (!name.starts_with("_Z") || name.size() > kLongestMangled) return false;
  if (name.find("cv") != name.npos && references(name, 'T', "I") > kMostParsedTwice) return false;
  return !has_pack(name) || is_searched_soon(mangled);
}

}  // namespace corun
