#pragma once

#include "experiments/base/canonical_lines.h"
#include "experiments/question/clients/client_choice.h"

namespace corun {

/// Everything of a client that decides a run's result, with every default filled in: what the rows of client_fields()
/// write.
std::string canonical_client(const ClientChoice& client, const FileHashes& hashes);

// Of keys whose values are more than a number: what their rows write.
void write_trace(const ClientChoice& client, CanonicalLines& lines);
void write_fewer_sms(const ClientChoice& client, CanonicalLines& lines);
void write_synthetic(const ClientChoice& client, CanonicalLines& lines);
void write_command(const ClientChoice& client, CanonicalLines& lines);
void write_pacing(const ClientChoice& client, CanonicalLines& lines);
void write_host_jitter(const ClientChoice& client, CanonicalLines& lines);
void write_quality(const ClientChoice& client, CanonicalLines& lines);
void write_resizes(const ClientChoice& client, CanonicalLines& lines);

}  // namespace corun
