#include "sim/live/restarts.h"

#include <fmt/format.h>

#include <utility>

#include "sim/run/client_views.h"
#include "traces/base/error.h"

namespace corun::live {

Restarts::Restarts(const RunInput& input, const std::string& folder, Arbiter& arbiter, const DeviceUse& use,
                   const executor::WallClock& clock)
    : input_(input), arbiter_(arbiter), use_(use), clock_(clock), members_(input.clients.size()) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::uint64_t bytes = snapshot_bytes(input.clients[i]);
    if (input.clients[i].command.is_restartable && bytes > 0)
      members_[i].file = std::make_unique<SnapshotFile>(folder, fmt::format("snapshot-{}", i), bytes);
  }
}

std::vector<std::string> Restarts::variables(ClientId client) const {
  const auto& file = members_[client.value].file;
  if (file == nullptr) return {};
  return {fmt::format("{}={}", SnapshotFile::kVariable, file->path())};
}

void Restarts::require_restartable(ClientId client, std::string_view what) const {
  const ClientSpec& spec = input_.clients[client.value];
  if (spec.command.is_restartable && spec.role == Role::kBestEffort) return;
  throw Error(ErrorKind::kUnsupported, {},
              fmt::format("policy '{}' wants to {} client '{}', whose program may not be started again",
                          input_.policy_name, what, spec.name),
              spec.role == Role::kBestEffort ? "add `restartable: true` to the client"
                                             : "a program with frames is never killed: leave it to the policy's games");
}

void Restarts::snapshot(ClientId client) {
  require_restartable(client, "take a snapshot of");
  asked_.push_back(client);
}

void Restarts::kill(ClientId client, Program& program) {
  require_restartable(client, "kill");
  if (program.is_gone()) return;  // it has finished, and will be seen to leave
  program.kill();
  killed_.push_back(client);
}

void Restarts::act(const std::vector<std::unique_ptr<LiveClient>>& clients) {
  for (const ClientId client : std::exchange(killed_, {})) {
    Member& member = members_[client.value];
    member.life = Life::kDying;
    member.killed = clock_.now();
    clients[client.value]->lose_work();
  }
  for (const ClientId client : std::exchange(asked_, {})) {
    Member& member = members_[client.value];
    ++member.asked;
    member.asked_at = clock_.now();
    if (member.file != nullptr) member.file->ask();
    arbiter_.snapshot_asked(client);
  }
}

bool Restarts::look_after(LiveClient& client, Program& program) {
  Member& member = members_[client.id().value];
  if (member.life == Life::kServing && member.file != nullptr) look_at_snapshot(client.id());
  if (member.life == Life::kStarting && client.counts().launches > member.launches) come_back(client.id());
  if (member.life != Life::kDying || !program.is_gone()) return false;
  client.reap_dead_processes();
  if (member.file != nullptr) member.file->forget_request();
  member.life = Life::kStarting;
  member.ended = clock_.now();
  member.launches = client.counts().launches;
  return true;
}

void Restarts::come_back(ClientId client) {
  Member& member = members_[client.value];
  member.life = Life::kServing;
  account_.restarted(name(client), clock_.now() - member.killed, member.ended - member.killed);
  arbiter_.copied(client, CopyEvent::kRestored);
}

/// What it does while it saves is little.
void Restarts::look_at_snapshot(ClientId client) {
  Member& member = members_[client.value];
  const SnapshotFile::Progress progress = member.file->look();
  if (progress == SnapshotFile::Progress::kNone) return;
  if (progress == SnapshotFile::Progress::kBegun || member.begun_at < member.asked_at) {
    member.device_time = use_.of(client);
    member.begun_at = clock_.now();
  }
  if (progress != SnapshotFile::Progress::kSaved) return;
  ++member.saved;
  account_.snapshot(name(client), clock_.now() - member.asked_at);
  arbiter_.snapshot_saved(client, member.device_time, member.begun_at);
}

std::vector<std::string> Restarts::notes() const {
  std::vector<std::string> notes = account_.notes();
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (member.asked > 0 && member.saved == 0)
      notes.push_back(
          fmt::format("client '{}' was asked for a snapshot {} and saved none: a kill loses all since its program was "
                      "started (docs/live.md says what a program does)",
                      name(ClientId{i}), executor::times(member.asked)));
    if (member.life != Life::kServing)
      notes.push_back(fmt::format("client '{}' was killed at {:.3f} s and did not come back", name(ClientId{i}),
                                  to_seconds(member.killed - kRunStart)));
  }
  return notes;
}

}  // namespace corun::live
