#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/diagnostic.h"

namespace corun {

/// A piece of a YAML document and where it stands.
///
/// Nothing is typed: a scalar is its text, and the field that reads it says what it means. So `no`, `012` or `12:30`
/// cannot turn into something else on the way.
struct Node {
  enum class Kind : std::uint8_t { kScalar, kSequence, kMapping };
  struct Entry;

  Kind kind = Kind::kScalar;
  SourceLocation where;        ///< of scalars with the length to underline
  std::string text;            ///< kScalar
  bool is_quoted = false;      ///< kScalar: quoted or a block, so that "" is a value and not an absence
  std::vector<Node> items;     ///< kSequence
  std::vector<Entry> entries;  ///< kMapping, in order

  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_mapping() const { return kind == Kind::kMapping; }
  bool is_absent() const { return is_scalar() && text.empty() && !is_quoted; }

  const Node* find(std::string_view key) const;  ///< value of a mapping's key, nullptr if there is none
  Node* find(std::string_view key);
  std::string_view kind_name() const;  ///< "text", "a list", "a mapping"
};

struct Node::Entry {
  std::string key;
  SourceLocation where;  ///< of the key
  Node value;
};

/// Largest accepted document and deepest nesting.
inline constexpr std::size_t kMaxYamlBytes = std::size_t{1} << 20;
inline constexpr std::uint32_t kMaxYamlDepth = 64;

/// Reads one YAML document. `file` is for locations.
///
/// Plain data only: anchors, aliases, tags, further documents, duplicate keys and keys that are not text are refused
/// where they stand. Adds what is wrong to `diagnostics`; after a syntax error the node holds what came before it.
Node parse_yaml(std::string_view text, const std::string& file, Diagnostics& diagnostics);

/// Reads a regular file of at most kMaxYamlBytes, or standard input (`-`), once for all. Throws Error(kInput).
std::string read_text_file(const std::string& path);

}  // namespace corun
