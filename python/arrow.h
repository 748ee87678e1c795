#pragma once

#include <cstdint>
#include <memory>

#include "python/columns.h"

/// The structures of the Arrow C data and stream interfaces, as their specification fixes them
/// (arrow.apache.org/docs/format/CDataInterface.html).
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace corun {

/// Tables as Arrow sees them: integers are int64, reals float64, text a dictionary of utf8 with int32 indices, a table
/// is a struct of its columns. Nothing is copied: an array holds on to its table until the consumer releases it.
/// What is written to `out` is the consumer's, which must call its `release`.

void export_schema(const Table& table, ArrowSchema& out);
void export_schema(const Column& column, ArrowSchema& out);
void export_array(const std::shared_ptr<const Table>& table, ArrowArray& out);
void export_column(const std::shared_ptr<const Table>& table, std::size_t column, ArrowArray& out);
/// A stream of one batch.
void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream& out);

}  // namespace corun
