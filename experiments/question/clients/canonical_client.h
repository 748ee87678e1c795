#pragma once

#include <string>
#include <vector>

#include "experiments/base/canonical_lines.h"
#include "experiments/question/clients/client_choice.h"

namespace corun {

/// Everything of a client that decides a run's result, with every default filled in: what the rows of client_fields()
/// write.
std::string canonical_client(const ClientChoice& client, const FileHashes& hashes);

/// A file that a client names, and what results call it.
struct NamedFile {
  std::string label;  ///< "train", "train/fewer_sms1", "chat/requests", "game/scene2"
  CapturedFile file;
};
std::vector<NamedFile> files_of(const ClientChoice& client);

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
