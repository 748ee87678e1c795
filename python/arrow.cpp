#include "python/arrow.h"

#include <utility>

namespace corun {

namespace {

/// What a schema or an array points to; dies with its release.
template <class Node>
struct Owned {
  std::vector<std::unique_ptr<Node>> children;
  std::vector<Node*> child_pointers;
  std::unique_ptr<Node> dictionary;

  Node& add_child() {
    child_pointers.push_back(children.emplace_back(std::make_unique<Node>()).get());
    return *child_pointers.back();
  }
};

struct OwnedSchema : Owned<ArrowSchema> {
  std::string name;
};

struct OwnedArray : Owned<ArrowArray> {
  std::shared_ptr<const Table> table;
  std::vector<const void*> buffers;
};

template <class Node, class Owner>
void release(Node* node) {
  auto* owner = static_cast<Owner*>(node->private_data);
  for (const auto& child : owner->children)
    if (child->release != nullptr) child->release(child.get());
  if (owner->dictionary && owner->dictionary->release != nullptr) owner->dictionary->release(owner->dictionary.get());
  delete owner;
  node->release = nullptr;
}

template <class Node, class Owner>
void finish(Node& out, std::unique_ptr<Owner> owner) {
  out.n_children = static_cast<std::int64_t>(owner->children.size());
  out.children = owner->child_pointers.data();
  out.dictionary = owner->dictionary.get();
  out.release = release<Node, Owner>;
  out.private_data = owner.release();
}

constexpr std::int64_t kNullable = 2;

void finish_schema(ArrowSchema& out, const char* format, std::unique_ptr<OwnedSchema> owner) {
  out = {};
  out.format = format;
  out.name = owner->name.c_str();
  out.flags = kNullable;
  finish(out, std::move(owner));
}

void finish_array(ArrowArray& out, std::size_t length, std::size_t missing, std::unique_ptr<OwnedArray> owner) {
  out = {};
  out.length = static_cast<std::int64_t>(length);
  out.null_count = static_cast<std::int64_t>(missing);
  out.n_buffers = static_cast<std::int64_t>(owner->buffers.size());
  out.buffers = owner->buffers.data();
  finish(out, std::move(owner));
}

std::unique_ptr<OwnedArray> own(const std::shared_ptr<const Table>& table, std::vector<const void*> buffers) {
  auto owner = std::make_unique<OwnedArray>();
  owner->table = table;
  owner->buffers = std::move(buffers);
  return owner;
}

struct Stream {
  std::shared_ptr<const Table> table;
  bool is_done = false;
};

Stream& of(ArrowArrayStream* stream) { return *static_cast<Stream*>(stream->private_data); }

}  // namespace

void export_schema(const Column& column, ArrowSchema& out) {
  auto owner = std::make_unique<OwnedSchema>();
  owner->name = column.name();
  constexpr const char* kFormats[] = {"l", "g", "i"};
  if (std::holds_alternative<Words>(column.values())) {
    owner->dictionary = std::make_unique<ArrowSchema>();
    finish_schema(*owner->dictionary, "u", std::make_unique<OwnedSchema>());
  }
  finish_schema(out, kFormats[column.values().index()], std::move(owner));
}

void export_schema(const Table& table, ArrowSchema& out) {
  auto owner = std::make_unique<OwnedSchema>();
  for (const Column& column : table.columns) export_schema(column, owner->add_child());
  finish_schema(out, "+s", std::move(owner));
  out.flags = 0;
}

void export_column(const std::shared_ptr<const Table>& table, std::size_t index, ArrowArray& out) {
  const Column& column = table->columns[index];
  const void* values = nullptr;
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&column.values())) values = integers->data();
  if (const auto* reals = std::get_if<std::vector<double>>(&column.values())) values = reals->data();
  const auto* words = std::get_if<Words>(&column.values());
  if (words != nullptr) values = words->codes().data();
  auto owner = own(table, {column.validity(), values});
  if (words != nullptr) {
    owner->dictionary = std::make_unique<ArrowArray>();
    finish_array(*owner->dictionary, words->count(), 0,
                 own(table, {nullptr, words->ends().data(), words->bytes().data()}));
  }
  finish_array(out, column.size(), column.missing(), std::move(owner));
}

void export_array(const std::shared_ptr<const Table>& table, ArrowArray& out) {
  auto owner = own(table, {nullptr});
  for (std::size_t i = 0; i < table->columns.size(); ++i) export_column(table, i, owner->add_child());
  finish_array(out, table->rows(), 0, std::move(owner));
}

void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream& out) {
  out.private_data = new Stream{std::move(table)};
  out.get_schema = [](ArrowArrayStream* stream, ArrowSchema* schema) {
    export_schema(*of(stream).table, *schema);
    return 0;
  };
  out.get_next = [](ArrowArrayStream* stream, ArrowArray* array) {
    *array = {};  // released: the end of the stream
    if (!std::exchange(of(stream).is_done, true)) export_array(of(stream).table, *array);
    return 0;
  };
  out.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  out.release = [](ArrowArrayStream* stream) {
    delete &of(stream);
    stream->release = nullptr;
  };
}

}  // namespace corun
