#include "replication/client/session_endpoint.h"

#include <optional>
#include <span>
#include <utility>

#include "core/check.h"
#include "core/wire.h"
#include "replication/pages/page_access.h"
#include "replication/pages/page_status.h"
#include "transport/limits.h"

namespace ingot::inline replication_client {

static_assert(SessionCore::kNever == Pollable::kNever);

namespace {

SessionCore::Options core_options(const SessionEndpoint::Options& options, const Transport& transport) {
  SessionCore::Options core = options;
  core.self = transport.self();
  core.told_applied = !options.pages.empty();
  return core;
}

}  // namespace

SessionEndpoint::SessionEndpoint(Transport& transport, const Options& options)
    : transport_(transport),
      daemon_(options.daemon),
      pages_(options.pages),
      incarnations_(options.incarnations),
      replicas_(options.replicas),
      core_(core_options(options, transport)),
      outbox_(transport),
      doubts_(daemon_, replicas_) {}

// Only messages and the passing of time answer a submission, unless it stands and is replaced: all other actions that
// submitting causes are sends.
std::optional<SessionEndpoint::Refusal> SessionEndpoint::submit(RequestKind kind, std::string payload,
                                                                SessionCore::Callback& callback, EndpointId replica,
                                                                std::uint64_t now_ns) {
  if (!core_.submit(kind, std::move(payload), callback, replica, now_ns)) return refusal(now_ns);
  const std::size_t answers = replaced_.size();
  execute(now_ns, replaced_);
  INGOT_CHECK(replaced_.size() == answers || kind == RequestKind::kStandingQuery, "no answer arrives meanwhile");
  return std::nullopt;
}

void SessionEndpoint::execute(std::uint64_t now_ns, std::vector<SessionCore::Answer>& answers) {
  while (auto action = core_.next()) {
    if (const auto* send = std::get_if<SessionCore::Send>(&*action)) {
      outbox_.send(send->to, send->message);
      continue;
    }
    auto& answer = answers.emplace_back(std::get<SessionCore::Answer>(std::move(*action)));
    if (answer.outcome != ReplicaReply::Outcome::kOverloaded) continue;
    Refusal refused = refusal(now_ns);
    answer.outcome = refused.outcome;
    answer.payload = std::move(refused.sentence);
  }
}

SessionEndpoint::Refusal SessionEndpoint::refusal(std::uint64_t now_ns) const {
  std::string blocked = who_is_blocked(pages_, daemon_, core_.routing().leader(), now_ns);
  if (blocked.empty()) return {ReplicaReply::Outcome::kOverloaded, {}};
  return {ReplicaReply::Outcome::kBlocked, std::move(blocked)};
}

int SessionEndpoint::poll(std::uint64_t now_ns, std::vector<SessionCore::Answer>& answers) {
  if (told_of_deaths()) poll_deaths(now_ns);
  for (SessionCore::Answer& each : replaced_) answers.push_back(std::move(each));
  replaced_.clear();
  int work = transport_.probe(
      [&](EndpointId from, std::span<const std::byte> message) {
        core_.receive(from, as_view(message), now_ns);
        execute(now_ns, answers);
      },
      kProbeMessagesMax);
  work += poll_incarnations(now_ns);
  poll_doubts(now_ns);
  if (work > 0) note_applied();
  work += outbox_.flush([&](EndpointId replica) { core_.channel_drained(replica, now_ns); });
  core_.tick(now_ns, [&](EndpointId replica) {
    execute(now_ns, answers);  // first, so that waits_for() counts what this tick has sent: the channel may be full now
    return outbox_.waits_for(replica);
  });
  execute(now_ns, answers);
  transport_.flush();
  if (transport_.parts_moved()) ++work;
  return work;
}

bool SessionEndpoint::readable() {
  return transport_.readable() || told_of_deaths() || doubts_.news() ||
         (incarnations_ != nullptr && incarnations_->waiting() && incarnations_->readable());
}

bool SessionEndpoint::told_of_deaths() const { return daemon_ != nullptr && daemon_->deaths.get() != deaths_seen_; }

// An entry of another incarnation than the channel's is left out: an earlier one is known to be dead; a later one will
// be announced.
void SessionEndpoint::poll_deaths(std::uint64_t now_ns) {
  deaths_seen_ = daemon_->deaths.get_acquire();  // pairs with the supervisor's release after the states
  for (std::uint16_t id = 0; id < replicas_; ++id) {
    const EndpointId replica(id);
    const std::optional<std::uint64_t> dead = dead_incarnation(daemon_->replicas[id]);
    const bool same = incarnations_ == nullptr || (dead && incarnations_->incarnation(replica).value() == *dead);
    if (dead && same) note_death(replica, now_ns);
  }
}

// Whether messages to the replica reach that incarnation, which is not known to be dead.
bool SessionEndpoint::reaches(ReplicaIncarnation name) const {
  const bool same = incarnations_ == nullptr || incarnations_->incarnation(name.id) == name.incarnation;
  return same && !core_.routing().dead(name.id);
}

void SessionEndpoint::poll_doubts(std::uint64_t now_ns) {
  const auto stopped = [&](ReplicaIncarnation name) {
    if (reaches(name)) core_.replica_stopped(name.id, now_ns);
  };
  const auto continued = [&](ReplicaIncarnation name) {
    if (reaches(name)) core_.replica_continued(name.id);
  };
  doubts_.poll(now_ns, stopped, continued);
}

void SessionEndpoint::note_death(EndpointId replica, std::uint64_t now_ns) {
  if (core_.routing().dead(replica)) return;
  if (incarnations_ != nullptr) {
    incarnations_->gone(replica);
  } else {
    transport_.peer_gone(replica);
  }
  outbox_.forget(replica);
  core_.replica_died(replica, now_ns);
}

void SessionEndpoint::replica_died(EndpointId replica, Incarnation incarnation, std::uint64_t now_ns) {
  if (incarnations_ != nullptr && incarnations_->incarnation(replica) != incarnation) return;
  note_death(replica, now_ns);
}

void SessionEndpoint::begin_incarnation(PeerIncarnation announced, std::uint64_t now_ns) {
  INGOT_CHECK(incarnations_ != nullptr, "a client without incarnations is told of no new ones");
  const EndpointId replica = announced.endpoint;
  if (replica.value() >= replicas_ || !incarnations_->announce(std::move(announced))) return;
  note_death(replica, now_ns);
}

int SessionEndpoint::poll_incarnations(std::uint64_t now_ns) {
  if (incarnations_ == nullptr || !incarnations_->waiting()) return 0;
  return incarnations_->poll([this, now_ns](EndpointId replica, Incarnation) {
    outbox_.revive(replica);
    core_.replica_restarted(replica, /*lags=*/!pages_.empty(), now_ns);
  });
}

void SessionEndpoint::note_applied() {
  const Routing& routing = core_.routing();
  for (std::uint16_t id = 0; routing.any_lags() && id < pages_.size(); ++id) {
    const EndpointId replica(id);
    if (routing.dead(replica) || !routing.lags(replica)) continue;
    const std::optional<Slot> applied = applied_by(*pages_[id], incarnations_->incarnation(replica));
    if (applied) core_.replica_applied(replica, *applied);
  }
}

}  // namespace ingot::replication_client
