#include "tracer/guest/chunk_frame.h"

#include <string.h>

#include <string_view>

#include "traces/base/crc32c.h"

namespace corun::guest {
namespace {

constexpr unsigned char kSync[] = {0x09, 0x89, 'C', 'O', 'R', 'U', 'N', '\r', '\n'};
constexpr std::uint32_t kRecordsKind = 32;  // ChunkHeader.Kind RECORDS

/// Writes fields of a protobuf message, each with its tag: number << 3 | wire type.
struct Writer {
  unsigned char* at;

  void byte(unsigned char value) { *at++ = value; }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<unsigned char>(value | 0x80));
    byte(static_cast<unsigned char>(value));
  }
  void varint_field(unsigned char tag, std::uint64_t value) {
    byte(tag);
    varint(value);
  }
  void fixed32_field(unsigned char tag, std::uint32_t value) {
    byte(tag);
    bytes(&value, sizeof(value));
  }
  void bytes(const void* from, std::size_t size) {
    memcpy(at, from, size);
    at += size;
  }
};

std::uint32_t checksum(const unsigned char* bytes, std::size_t size) {
  return crc32c({reinterpret_cast<const char*>(bytes), size});
}

// Fields of ChunkHeader that are not 0: sequence 1, kind 2, raw_length 4, payload_crc 5, row_count 7.
std::size_t write_header(unsigned char* out, std::uint32_t sequence, std::uint32_t rows, const unsigned char* payload,
                         std::size_t payload_bytes) {
  Writer writer{out};
  writer.varint_field(0x08, sequence);
  writer.varint_field(0x10, kRecordsKind);
  writer.varint_field(0x20, payload_bytes);
  writer.fixed32_field(0x2D, checksum(payload, payload_bytes));
  writer.varint_field(0x38, rows);
  return static_cast<std::size_t>(writer.at - out);
}

}  // namespace

void write_payload_prefix(unsigned char (&out)[kPayloadPrefix], std::size_t packed_bytes) {
  out[0] = 0x0A;
  out[1] = static_cast<unsigned char>(packed_bytes | 0x80);  // a varint of three bytes, however small the number
  out[2] = static_cast<unsigned char>((packed_bytes >> 7) | 0x80);
  out[3] = static_cast<unsigned char>((packed_bytes >> 14) & 0x7F);
}

ChunkFrame make_chunk_frame(std::uint32_t sequence, std::uint32_t rows, const unsigned char* payload,
                            std::size_t payload_bytes) {
  unsigned char header[40];
  const std::size_t header_size = write_header(header, sequence, rows, payload, payload_bytes);
  unsigned char body[80];
  Writer writer{body};
  writer.bytes(kSync, sizeof(kSync));
  writer.varint_field(0x12, header_size);
  writer.bytes(header, header_size);
  writer.fixed32_field(0x1D, checksum(header, header_size));
  writer.varint_field(0x22, payload_bytes);
  const auto body_size = static_cast<std::size_t>(writer.at - body);

  ChunkFrame frame;
  Writer out{frame.bytes};
  out.varint_field(0x0A, body_size + payload_bytes);
  out.bytes(body, body_size);
  frame.size = static_cast<std::size_t>(out.at - frame.bytes);
  return frame;
}

}  // namespace corun::guest
