#include "experiments/base/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <new>
#include <set>
#include <sstream>

#include "traces/base/units.h"

namespace corun {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Event {
  yaml_event_t event{};
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event); }
};

/// Builds nodes from libyaml's events, one document deep.
class TreeReader {
 public:
  TreeReader(std::string_view text, const std::string& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  TreeReader(const TreeReader&) = delete;
  TreeReader& operator=(const TreeReader&) = delete;
  ~TreeReader() { yaml_parser_delete(&parser_); }

  Node read() {
    Node root;
    root.where = {file_, 1, 1, 1};
    bool has_root = false;
    for (;;) {
      Event e;
      if (!next(e) || e.event.type == YAML_STREAM_END_EVENT) return root;
      if (e.event.type == YAML_STREAM_START_EVENT || e.event.type == YAML_DOCUMENT_END_EVENT) continue;
      if (e.event.type == YAML_DOCUMENT_START_EVENT && has_root) {
        refuse("E0104", e, "a second document begins here",
               "one experiment is one document: remove what follows `---`");
        return root;
      }
      if (e.event.type == YAML_DOCUMENT_START_EVENT) continue;
      if (!value(e, root, 1)) return root;
      has_root = true;
    }
  }

 private:
  bool next(Event& e) {
    if (yaml_parser_parse(&parser_, &e.event) != 0) return true;
    const yaml_mark_t& mark = parser_.problem_mark;
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    const std::string problem = parser_.problem == nullptr ? "unreadable" : parser_.problem;
    const std::string context = parser_.context == nullptr ? "" : fmt::format(" {}", parser_.context);
    const bool is_placed = parser_.error == YAML_SCANNER_ERROR || parser_.error == YAML_PARSER_ERROR;
    const SourceLocation where = is_placed ? location(mark, mark) : SourceLocation{file_, 1, 1, 1};
    diagnostics_.add({"E0101", where, fmt::format("this is not YAML: {}{}", problem, context), "", {}, ""});
    return false;
  }

  SourceLocation location(const yaml_mark_t& start, const yaml_mark_t& end) const {
    const std::size_t length = end.line == start.line && end.column > start.column ? end.column - start.column : 1;
    return {file_, static_cast<std::uint32_t>(start.line + 1), static_cast<std::uint32_t>(start.column + 1),
            static_cast<std::uint32_t>(length)};
  }

  void refuse(const char* code, const Event& e, std::string message, std::string help) {
    diagnostics_.add(
        {code, location(e.event.start_mark, e.event.end_mark), std::move(message), "", {}, std::move(help)});
  }

  /// Reads the value that `e` begins. False after a syntax error: nothing more can be read.
  bool value(const Event& e, Node& node, std::uint32_t depth) {
    node.where = location(e.event.start_mark, e.event.end_mark);
    switch (e.event.type) {
      case YAML_SCALAR_EVENT:
        return scalar(e, node);
      case YAML_SEQUENCE_START_EVENT:
        node.kind = Node::Kind::kSequence;
        refuse_properties(e, e.event.data.sequence_start.anchor, e.event.data.sequence_start.tag);
        return check_depth(e, depth) && sequence(node, depth);
      case YAML_MAPPING_START_EVENT:
        node.kind = Node::Kind::kMapping;
        refuse_properties(e, e.event.data.mapping_start.anchor, e.event.data.mapping_start.tag);
        return check_depth(e, depth) && mapping(node, depth);
      default:
        refuse("E0103", e, "aliases are not used here", "write the value out; `defaults:` holds what clients share");
        return true;
    }
  }

  bool check_depth(const Event& e, std::uint32_t depth) {
    if (depth <= kMaxYamlDepth) return true;
    refuse("E0102", e, fmt::format("nested deeper than {} levels", kMaxYamlDepth), "");
    return false;
  }

  void refuse_properties(const Event& e, const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (anchor != nullptr)
      refuse("E0103", e, "anchors are not used here", "remove `&...`; `defaults:` holds what clients share");
    if (tag != nullptr)
      refuse("E0103", e, "tags are not used here", "remove `!...`: each key knows the type of its value");
  }

  bool scalar(const Event& e, Node& node) {
    const auto& data = e.event.data.scalar;
    refuse_properties(e, data.anchor, data.tag);
    node.text.assign(reinterpret_cast<const char*>(data.value), data.length);
    if (node.text.find('\0') != std::string::npos)
      refuse("E0107", e, "this text holds the character NUL", "remove `\\0` or `\\x00`: no name or path can hold it");
    node.is_quoted = data.style != YAML_PLAIN_SCALAR_STYLE;
    if (!node.is_quoted && (node.text == "~" || node.text == "null")) node.text.clear();
    return true;
  }

  bool sequence(Node& node, std::uint32_t depth) {
    for (;;) {
      Event e;
      if (!next(e)) return false;
      if (e.event.type == YAML_SEQUENCE_END_EVENT) return true;
      if (!value(e, node.items.emplace_back(), depth + 1)) return false;
    }
  }

  bool mapping(Node& node, std::uint32_t depth) {
    std::set<std::string, std::less<>> seen;
    for (;;) {
      Event e;
      if (!next(e)) return false;
      if (e.event.type == YAML_MAPPING_END_EVENT) return true;
      Node key;
      if (!value(e, key, depth + 1)) return false;
      if (!key.is_scalar()) refuse("E0105", e, "a key must be text", "");
      if (key.is_scalar() && !seen.insert(key.text).second)
        diagnostics_.add({"E0106", key.where, fmt::format("key `{}` is given twice", key.text), "here again", {}, ""});
      Node::Entry& entry = node.entries.emplace_back(Node::Entry{key.text, key.where, {}});
      Event v;
      if (!next(v) || !value(v, entry.value, depth + 1)) return false;
      if (entry.value.is_absent()) entry.value.where = key.where;
    }
  }

  yaml_parser_t parser_{};
  std::string file_;
  Diagnostics& diagnostics_;
};

}  // namespace

const Node* Node::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &found->value;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

std::string_view Node::kind_name() const {
  if (is_absent()) return "nothing";
  return is_scalar() ? "text" : is_sequence() ? "a list" : "a mapping";
}

Node parse_yaml(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  diagnostics.add_source(file, text);
  if (text.size() > kMaxYamlBytes)
    throw_input({file}, "the file has {} bytes, expected at most {}", text.size(), kMaxYamlBytes);
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw_input({file}, "byte {} is NUL, expected a text file", nul);
  return TreeReader(text, file, diagnostics).read();
}

namespace {

std::string text_of(std::istream& stream, const std::string& path) {
  std::string text(kMaxYamlBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  const bool has_failed = stream.bad() || (!stream.eof() && stream.fail());
  if (has_failed && errno == ENOMEM) throw std::bad_alloc();  // opening it takes memory, too
  if (has_failed) throw_input({path}, "the file cannot be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

/// Errors and reproductions show the text again, which the stream gives but once.
const std::string& standard_input() {
  static const std::string text = text_of(std::cin, "-");
  return text;
}

}  // namespace

std::string read_text_file(const std::string& path) {
  if (path == "-") return standard_input();
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (failure || !std::filesystem::exists(status)) throw_input({path}, "there is no such file");
  if (!std::filesystem::is_regular_file(status)) throw_input({path}, "this is not a regular file");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  return text_of(stream, path);
}

}  // namespace corun
