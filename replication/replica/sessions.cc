#include "replication/replica/sessions.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/stable_hash.h"

namespace ingot::inline replication_replica {

std::uint64_t Sessions::hash_of(const Session& session) {
  return mix(mix(session.client, session.floor), session.last_use);
}

std::uint64_t Sessions::hash_of(const Session& session, std::uint64_t sequence, const Entry& entry) {
  if (entry.state == State::kUnseen) return 0;
  return mix(mix(session.client, sequence), hash_bytes(entry.result(), static_cast<std::uint64_t>(entry.state)));
}

// Changes one entry, and the totals over entries.
void Sessions::set(Session& session, std::size_t i, State state, std::string result) {
  Entry& entry = session.entries[i];
  const std::uint64_t sequence = session.floor + i;
  digest_ -= entry.hash;
  session.bytes += result.size() - entry.result().size();
  bytes_ += result.size() - entry.result().size();
  entry.state = state;
  entry.keep(std::move(result));
  entry.hash = hash_of(session, sequence, entry);
  digest_ += entry.hash;
}

void Sessions::acknowledge(Session& session, std::uint64_t floor) {
  const auto gone = static_cast<std::size_t>(std::min<std::uint64_t>(floor - session.floor, session.entries.size()));
  for (std::size_t i = 0; i < gone; ++i) set(session, i, State::kUnseen, {});
  session.entries.erase(session.entries.begin(), session.entries.begin() + gone);
  session.kept_from -= std::min(session.kept_from, gone);
}

// The session was used: it becomes the last one to be forgotten. Its floor rises to `floor` if that is higher.
void Sessions::touch(Session& session, std::uint64_t floor) {
  digest_ -= hash_of(session);
  if (floor > session.floor) {
    acknowledge(session, floor);
    session.floor = floor;
  }
  session.last_use = ++uses_;
  digest_ += hash_of(session);
}

Sessions::Session& Sessions::use(std::uint64_t client, std::uint64_t acknowledged_below) {
  if (const auto it = index_.find(client); it != index_.end()) {
    sessions_.splice(sessions_.end(), sessions_, it->second);
  } else {
    if (sessions_.size() == limits_.clients) forget_longest_silent();
    sessions_.emplace_back().client = client;
    index_.emplace(client, std::prev(sessions_.end()));
    digest_ += hash_of(sessions_.back());
  }
  touch(sessions_.back(), acknowledged_below);
  return sessions_.back();
}

void Sessions::forget_longest_silent() {
  Session& session = sessions_.front();
  acknowledge(session, session.floor + session.entries.size());
  digest_ -= hash_of(session);
  index_.erase(session.client);
  sessions_.pop_front();
}

Sessions::Answer Sessions::begin(std::uint64_t client, std::uint64_t sequence, std::uint64_t acknowledged_below) {
  Session& session = use(client, acknowledged_below);
  if (sequence < session.floor) return {Verdict::kStale, {}};
  const std::uint64_t i = sequence - session.floor;
  if (i >= limits_.window) return {Verdict::kOutsideWindow, {}};
  if (i >= session.entries.size()) return {Verdict::kApply, {}};
  const Entry& entry = session.entries[i];
  if (entry.state == State::kDone) return {Verdict::kDuplicate, entry.result()};
  return {entry.state == State::kGone ? Verdict::kResultGone : Verdict::kApply, {}};
}

void Sessions::record(std::uint64_t client, std::uint64_t sequence, std::string result) {
  INGOT_CHECK(!sessions_.empty() && sessions_.back().client == client, "record follows its begin");
  Session& session = sessions_.back();
  const std::size_t i = sequence - session.floor;
  if (i >= session.entries.size()) session.entries.resize(i + 1);
  INGOT_CHECK(session.entries[i].state == State::kUnseen, "a command is carried out once");
  set(session, i, State::kDone, std::move(result));
  session.kept_from = std::min(session.kept_from, i);
  while (session.bytes > limits_.client_bytes) drop_oldest_result(session);
  for (auto it = sessions_.begin(); bytes_ > limits_.bytes;) {
    if (!drop_oldest_result(*it)) ++it;
  }
}

// Returns false if the session holds no result.
bool Sessions::drop_oldest_result(Session& session) {
  for (; session.kept_from < session.entries.size(); ++session.kept_from) {
    if (session.entries[session.kept_from].state != State::kDone) continue;
    set(session, session.kept_from++, State::kGone, {});
    return true;
  }
  return false;
}

std::uint64_t Sessions::compute_digest() const {
  std::uint64_t digest = 0;
  for (const Session& session : sessions_) {
    digest += hash_of(session);
    for (std::size_t i = 0; i < session.entries.size(); ++i) {
      digest += hash_of(session, session.floor + i, session.entries[i]);
    }
  }
  return digest;
}

// ---- Snapshot ----
//
//   sessions  u64 uses  u32 n  n x session (longest silent first)
//   session   u64 client  u64 floor  u64 last_use  u32 entries  entries x (u8 state  bytes result, state kDone only)

void Sessions::save(WireWriter& out) const {
  out.u64(uses_).u32(static_cast<std::uint32_t>(sessions_.size()));
  for (const Session& session : sessions_) {
    out.u64(session.client).u64(session.floor).u64(session.last_use);
    out.u32(static_cast<std::uint32_t>(session.entries.size()));
    for (const Entry& entry : session.entries) {
      out.u8(static_cast<std::uint8_t>(entry.state));
      if (entry.state == State::kDone) out.bytes(entry.result());
    }
  }
}

Sessions Sessions::load(WireReader& in, const Limits& limits) {
  Sessions loaded(limits);
  loaded.uses_ = in.u64();
  std::uint32_t clients = in.u32();
  if (clients > limits.clients) in.fail();
  std::uint64_t last_use = 0;
  for (; clients > 0 && !in.failed(); --clients) {
    Session& session = loaded.sessions_.emplace_back();
    session.client = in.u64();
    session.floor = in.u64();
    session.last_use = in.u64();
    const std::uint32_t entries = in.u32();
    const bool known = !loaded.index_.emplace(session.client, std::prev(loaded.sessions_.end())).second;
    if (known || session.last_use <= last_use || session.last_use > loaded.uses_ || entries > limits.window) in.fail();
    last_use = session.last_use;
    for (std::uint32_t i = 0; i < entries && !in.failed(); ++i) {
      const std::uint8_t state = in.u8();
      if (state > static_cast<std::uint8_t>(State::kGone)) in.fail();
      session.entries.emplace_back();
      if (in.failed()) break;
      loaded.set(session, i, static_cast<State>(state), state == 1 ? std::string(in.bytes()) : std::string());
    }
    loaded.digest_ += hash_of(session);
  }
  return loaded;
}

}  // namespace ingot::replication_replica
