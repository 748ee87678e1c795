#include "traces/native/chunk_meta.h"

#include "traces/base/error.h"
#include "traces/schema/trace.pb.h"

namespace corun {
namespace {

template <class Message>
Message parse(std::string_view payload, const char* name) {
  Message message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    throw_input({}, "payload of {} bytes, expected a {} message of schema/trace.proto", payload.size(), name);
  }
  return message;
}

using WireFidelity = schema::Meta::Fidelity;

struct FidelityFlag {
  bool Fidelity::*flag;
  bool (WireFidelity::*get)() const;
  void (WireFidelity::*set)(bool);
};
constexpr FidelityFlag kFidelityFlags[] = {
    {&Fidelity::has_durations, &WireFidelity::has_durations, &WireFidelity::set_has_durations},
    {&Fidelity::has_calls, &WireFidelity::has_calls, &WireFidelity::set_has_calls},
    {&Fidelity::has_frames, &WireFidelity::has_frames, &WireFidelity::set_has_frames},
    {&Fidelity::per_frame, &WireFidelity::per_frame, &WireFidelity::set_per_frame},
    {&Fidelity::integer_microseconds, &WireFidelity::integer_microseconds, &WireFidelity::set_integer_microseconds},
    {&Fidelity::has_times, &WireFidelity::has_times, &WireFidelity::set_has_times},
    {&Fidelity::host_gaps_inflated, &WireFidelity::host_gaps_inflated, &WireFidelity::set_host_gaps_inflated},
    {&Fidelity::co_run, &WireFidelity::co_run, &WireFidelity::set_co_run},
};

void write_fidelity(const Fidelity& fidelity, WireFidelity& wire) {
  for (const FidelityFlag& each : kFidelityFlags) (wire.*each.set)(fidelity.*each.flag);
}

Fidelity read_fidelity(const WireFidelity& wire) {
  Fidelity fidelity;
  for (const FidelityFlag& each : kFidelityFlags) fidelity.*each.flag = (wire.*each.get)();
  return fidelity;
}

void write_device(const CapturedDevice& device, schema::Meta::Device& wire) {
  wire.set_name(device.name);
  wire.set_sm_count(device.sm_count);
  wire.set_memory_bytes(device.memory_bytes);
  wire.set_max_threads_per_sm(device.max_threads_per_sm);
  wire.set_registers_per_sm(device.registers_per_sm);
  wire.set_shared_memory_per_sm_bytes(device.shared_memory_per_sm_bytes);
}

CapturedDevice read_device(const schema::Meta::Device& wire) {
  return {.name = wire.name(),
          .sm_count = wire.sm_count(),
          .memory_bytes = wire.memory_bytes(),
          .max_threads_per_sm = wire.max_threads_per_sm(),
          .registers_per_sm = wire.registers_per_sm(),
          .shared_memory_per_sm_bytes = wire.shared_memory_per_sm_bytes()};
}

void write_rate(const UntracedRate& rate, schema::Meta::UntracedRate& wire) {
  wire.set_launches(rate.launches);
  wire.set_duration_ns(rate.duration_ns);
  wire.set_jitter_ppm(rate.jitter_ppm);
}

// A rate that no time was taken for says nothing.
std::optional<UntracedRate> read_rate(const schema::Meta& meta) {
  const schema::Meta::UntracedRate& wire = meta.untraced_rate();
  if (wire.launches() == 0 || wire.duration_ns() <= 0) return std::nullopt;
  return UntracedRate{.launches = wire.launches(), .duration_ns = wire.duration_ns(), .jitter_ppm = wire.jitter_ppm()};
}

void write_peak(const MemoryPeak& peak, schema::Meta::MemoryPeak& wire) {
  wire.set_device(peak.device);
  wire.set_process(peak.process);
  wire.set_bytes(peak.bytes);
  wire.set_source(static_cast<std::uint32_t>(peak.source));
}

// A source that a newer version knows is left out: what its figure means is not known here.
void read_peak(const schema::Meta::MemoryPeak& wire, TimelineBuilder& builder) {
  if (wire.source() > static_cast<std::uint32_t>(MemorySource::kInUse)) return;
  builder.note_memory({.device = wire.device(),
                       .process = wire.process(),
                       .bytes = wire.bytes(),
                       .source = static_cast<MemorySource>(wire.source())});
}

void write_power(const PowerMean& mean, schema::Meta::PowerMean& wire) {
  wire.set_device(mean.device);
  wire.set_watts(mean.watts);
  wire.set_sm_mhz(mean.sm_mhz);
}

// A figure that no device has says nothing.
void read_power(const schema::Meta::PowerMean& wire, std::vector<PowerMean>& power) {
  const bool is_power = wire.watts() > 0 && wire.watts() <= PowerMean::kMostWatts;
  const bool is_clock = wire.sm_mhz() >= 0 && wire.sm_mhz() <= PowerMean::kMostMhz;
  if (is_power && is_clock) power.push_back({.device = wire.device(), .watts = wire.watts(), .sm_mhz = wire.sm_mhz()});
}

void write_host_use(const HostUse& use, schema::Meta::HostUse& wire) {
  wire.set_process(use.process);
  wire.set_thread(use.thread);
  wire.set_span_ns(use.span_ns);
  wire.set_running_ns(use.running_ns);
  wire.set_waiting_ns(use.waiting_ns);
}

// A thread that ran and waited for longer than it was watched says nothing.
void read_host_use(const schema::Meta::HostUse& wire, std::vector<HostUse>& uses) {
  const auto lies_within = [&](std::int64_t ns) { return ns >= 0 && ns <= wire.span_ns(); };
  if (wire.span_ns() <= 0 || !lies_within(wire.running_ns()) || !lies_within(wire.waiting_ns())) return;
  uses.push_back({.process = wire.process(),
                  .thread = wire.thread(),
                  .span_ns = wire.span_ns(),
                  .running_ns = wire.running_ns(),
                  .waiting_ns = wire.waiting_ns()});
}

void write_provenance(const Provenance& provenance, schema::Meta& wire) {
  wire.set_source_format(provenance.source_format);
  wire.set_source_version(provenance.source_version);
  wire.set_source_file(provenance.source_file);
  wire.set_content_hash(provenance.content_hash);
  wire.set_clock(provenance.clock);
  wire.set_origin_ns(provenance.origin_ns);
  for (const CapturedDevice& device : provenance.devices) write_device(device, *wire.add_device());
  for (const auto& [reason, count] : provenance.skipped) {
    schema::Meta::Skipped& skipped = *wire.add_skipped();
    skipped.set_reason(reason);
    skipped.set_count(count);
  }
  for (const std::string& example : provenance.skipped_examples) wire.add_skipped_example(example);
  for (const std::string& note : provenance.notes) wire.add_note(note);
  for (const auto& [process, name] : provenance.programs) {
    schema::Meta::Program& program = *wire.add_program();
    program.set_process(process);
    program.set_name(name);
  }
  for (const MemoryPeak& peak : provenance.memory_peaks) write_peak(peak, *wire.add_memory_peak());
  for (const PowerMean& mean : provenance.power) write_power(mean, *wire.add_power());
  for (const HostUse& use : provenance.host_use) write_host_use(use, *wire.add_host_use());
  wire.set_tracer_ns(provenance.tracer_ns);
  if (provenance.untraced_rate) write_rate(*provenance.untraced_rate, *wire.mutable_untraced_rate());
}

Provenance read_provenance(const schema::Meta& wire) {
  Provenance provenance{.source_format = wire.source_format(),
                        .source_version = wire.source_version(),
                        .source_file = wire.source_file(),
                        .content_hash = wire.content_hash(),
                        .clock = wire.clock(),
                        .origin_ns = wire.origin_ns(),
                        .devices = {},
                        .skipped = {},
                        .skipped_examples = {wire.skipped_example().begin(), wire.skipped_example().end()},
                        .notes = {wire.note().begin(), wire.note().end()},
                        .programs = {},
                        .untraced_rate = read_rate(wire),
                        .tracer_ns = wire.tracer_ns(),
                        .memory_peaks = {},
                        .power = {},
                        .host_use = {}};
  for (const schema::Meta::Device& device : wire.device()) provenance.devices.push_back(read_device(device));
  for (const schema::Meta::PowerMean& mean : wire.power()) read_power(mean, provenance.power);
  for (const schema::Meta::HostUse& use : wire.host_use()) read_host_use(use, provenance.host_use);
  for (const schema::Meta::Program& program : wire.program()) provenance.programs[program.process()] = program.name();
  for (const schema::Meta::Skipped& skipped : wire.skipped()) provenance.skipped[skipped.reason()] += skipped.count();
  return provenance;
}

}  // namespace

std::string encode_meta(const Timeline& timeline) {
  schema::Meta meta;
  meta.set_format_version(kFormatVersion);
  write_provenance(timeline.provenance(), meta);
  write_fidelity(timeline.fidelity(), *meta.mutable_fidelity());
  return meta.SerializeAsString();
}

void decode_meta(std::string_view payload, TimelineBuilder& builder) {
  const auto meta = parse<schema::Meta>(payload, "Meta");
  if (meta.format_version() == 0) throw_input({}, "format version 0, expected 1 to {}", kFormatVersion);
  if (meta.format_version() > kFormatVersion) {
    throw Error(ErrorKind::kUnsupported, SourceLocation{},
                fmt::format("format version {}, expected 1 to {}", meta.format_version(), kFormatVersion),
                "read it with a newer corun");
  }
  builder.provenance() = read_provenance(meta);
  for (const schema::Meta::MemoryPeak& peak : meta.memory_peak()) read_peak(peak, builder);
  builder.fidelity() = read_fidelity(meta.fidelity());
}

std::string encode_footer(const FileFooter& footer) {
  schema::Footer wire;
  wire.mutable_chunk_offset()->Add(footer.chunk_offsets.begin(), footer.chunk_offsets.end());
  wire.set_row_count(footer.row_count);
  return wire.SerializeAsString();
}

FileFooter decode_footer(std::string_view payload) {
  const auto wire = parse<schema::Footer>(payload, "Footer");
  return {.chunk_offsets = {wire.chunk_offset().begin(), wire.chunk_offset().end()}, .row_count = wire.row_count()};
}

}  // namespace corun
