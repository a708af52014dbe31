#include "tests/replication/agreement/group.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "replication/agreement/registry.h"

namespace ingot::testing {

Group::Group(const GroupOptions& options)
    : options_(options),
      incarnations_(static_cast<std::size_t>(options.replicas), Incarnation(1)),
      applied_(static_cast<std::size_t>(options.replicas)),
      stopped_(static_cast<std::size_t>(options.replicas)),
      links_(static_cast<std::size_t>(options.replicas * options.replicas)) {
  for (int replica = 0; replica < options.replicas; ++replica) {
    agreements_.push_back(make_agreement(options.kind, config(replica)));
    INGOT_CHECK(agreements_.back() != nullptr, "unknown agreement");
    segments_.emplace(std::pair(replica, 1u), StableModel(name(replica).id, Incarnation(1)));
  }
}

ReplicaIncarnation Group::name(int replica) const {
  return {EndpointId(static_cast<std::uint16_t>(replica)), incarnations_[static_cast<std::size_t>(replica)]};
}

GroupConfig Group::config(int replica) const {
  GroupConfig config{options_.replicas, options_.voters, name(replica).id, name(replica).incarnation, options_.bounds,
                     nullptr};
  if (config.incarnation == Incarnation(1)) return config;
  for (std::uint32_t incarnation = config.incarnation.value() - 1; incarnation > 0; --incarnation) {
    const StableView* before = segment({config.self, Incarnation(incarnation)});
    if (before && !before->may_be_inherited()) continue;
    if (before) config.predecessor = std::make_shared<const StableView>(*before);
    break;
  }
  return config;
}

const StableView* Group::segment(ReplicaIncarnation name) const {
  const auto released = released_.find({name.id.value(), name.incarnation.value()});
  if (released != released_.end()) return &released->second;
  const auto found = segments_.find({name.id.value(), name.incarnation.value()});
  return found == segments_.end() ? nullptr : &found->second.state();
}

void Group::lose_segments(int replica) {
  std::erase_if(segments_, [&](const auto& each) { return each.first.first == replica; });
}

void Group::release_segments(int replica, Slot published) {
  const ReplicaIncarnation newest = name(replica);
  for (Incarnation ended(1); ended < newest.incarnation; ended = ended.next()) {
    released_[{replica, ended.value()}] = StableView::released(newest.id, ended, published);
    segments_.erase({replica, ended.value()});
  }
}

bool Group::dead(ReplicaIncarnation of) const {
  return of.incarnation < incarnations_[of.id.value()] || !alive(of.id.value());
}

std::uint64_t Group::propose(int replica, const std::string& command) {
  Effects effects;
  const std::uint64_t id = next_id_++;
  at(replica).propose(id, std::make_shared<const std::string>(command), effects);
  execute(replica, effects);
  return id;
}

std::uint64_t Group::read(int replica) {
  Effects effects;
  const std::uint64_t id = next_id_++;
  at(replica).read(id, effects);
  execute(replica, effects);
  return id;
}

void Group::tick(int replica) {
  Effects effects;
  at(replica).tick(effects);
  execute(replica, effects);
}

void Group::drained(int replica, int peer) {
  Effects effects;
  at(replica).peer_drained(EndpointId(static_cast<std::uint16_t>(peer)), effects);
  execute(replica, effects);
}

void Group::compact(int replica, Slot keep_from) {
  Effects effects;
  at(replica).compact(keep_from, effects);
  execute(replica, effects);
}

void Group::install(int replica, Slot first_undecided) {
  Effects effects;
  at(replica).installed(first_undecided, effects);
  Slot& applied = applied_[static_cast<std::size_t>(replica)];
  applied = std::max(applied, first_undecided);
  execute(replica, effects);
}

void Group::apply(int replica, Slot applied) {
  applied_[static_cast<std::size_t>(replica)] = applied;
  Effects effects;
  at(replica).applied(applied, effects);
  execute(replica, effects);
}

void Group::room(int replica, std::size_t bytes) { at(replica).room(bytes); }

void Group::crash(int replica) { agreements_[static_cast<std::size_t>(replica)] = nullptr; }

void Group::restart(int replica) {
  const auto index = static_cast<std::size_t>(replica);
  crash(replica);
  incarnations_[index] = incarnations_[index].next();
  applied_[index] = Slot(0);
  agreements_[index] = make_agreement(options_.kind, config(replica));
  segments_.emplace(std::pair(replica, incarnations_[index].value()),
                    StableModel(name(replica).id, name(replica).incarnation));
  Effects effects;
  at(replica).start(effects);
  execute(replica, effects);
}

void Group::report_death(int replica, int dead_replica) {
  const ReplicaIncarnation dead_name{name(dead_replica).id,
                              alive(dead_replica) ? Incarnation(name(dead_replica).incarnation.value() - 1)
                                                  : name(dead_replica).incarnation};
  report_death_of(replica, dead_name);
}

void Group::report_death_of(int replica, ReplicaIncarnation dead_name) {
  INGOT_CHECK(dead(dead_name) && dead_name.incarnation.value() > 0, "it lives");
  Effects effects;
  at(replica).peer_died(dead_name, effects);
  execute(replica, effects);
}

void Group::report_start(int replica, int peer) {
  Effects effects;
  at(replica).peer_started(name(peer), effects);
  execute(replica, effects);
}

void Group::report_stop(int replica, int peer) {
  Effects effects;
  at(replica).peer_stopped(name(peer), effects);
  execute(replica, effects);
}

void Group::report_continued(int replica, int peer) {
  Effects effects;
  at(replica).peer_continued(name(peer), effects);
  execute(replica, effects);
}

void Group::client_waits(int replica) {
  Effects effects;
  at(replica).client_waits(effects);
  execute(replica, effects);
}

absl::Status Group::move(int replica, Role role, int to) {
  Effects effects;
  absl::Status status = at(replica).move(role, EndpointId(static_cast<std::uint16_t>(to)), effects);
  execute(replica, effects);
  return status;
}

void Group::answer_salvage(int replica, ReplicaIncarnation of) {
  if (!dead(of)) return;
  Effects effects;
  at(replica).salvaged(of, segment(of), effects);
  execute(replica, effects);
}

void Group::answer_history(int replica) {
  for (const auto& [incarnation, segment] : segments_) {
    Effects effects;
    at(replica).history(segment.state(), effects);
    execute(replica, effects);
  }
}

void Group::deliver(int from, int to) {
  const auto message = link(from, to).front();
  link(from, to).pop_front();
  if (alive(to)) receive(from, to, *message);
}

void Group::receive(int from, int to, const std::string& message) {
  Effects effects;
  at(to).receive(EndpointId(static_cast<std::uint16_t>(from)), message, effects);
  execute(to, effects);
}

void Group::deliver_all() {
  for (bool moved = true; moved;) {
    moved = false;
    for (int from = 0; from < replicas(); ++from) {
      for (int to = 0; to < replicas(); ++to) {
        if (stopped_[static_cast<std::size_t>(to)]) continue;
        for (; !link(from, to).empty(); moved = true) deliver(from, to);
      }
    }
  }
}

void Group::run(int ticks) {
  for (; ticks > 0; --ticks) {
    for (int replica = 0; replica < replicas(); ++replica) {
      if (runs(replica) && at(replica).wants_tick()) tick(replica);
    }
    deliver_all();
  }
}

void Group::execute(int replica, Effects& effects) {
  if (!options_.fencing) effects.fence.clear();  // as a replica that runs without --fence
  observe(replica, effects);
  const auto own = segments_.find({replica, name(replica).incarnation.value()});
  for (const StableWrite& write : effects.stable) {
    if (own != segments_.end()) own->second.apply(write);
  }
  for (const Outgoing& outgoing : effects.messages) {
    const auto message = std::make_shared<const std::string>(outgoing.message.joined());
    if (!outgoing.broadcast) {
      send(replica, outgoing.to.value(), message);
      continue;
    }
    const auto brief = std::make_shared<const std::string>(outgoing.brief.joined());
    for (int peer = 0; peer < replicas(); ++peer) {
      if (peer != replica) send(replica, peer, outgoing.holders.contains(peer) ? brief : message);
    }
  }
  if (!effects.decided.empty() && !options_.apply_by_hand) apply(replica, effects.decided.back().slot.next());
  for (const ReplicaIncarnation& needed : effects.salvage_needed) {
    if (salvage_at_once) answer_salvage(replica, needed);
  }
  if (effects.history_needed && salvage_at_once) answer_history(replica);
}

void Group::send(int from, int to, const std::shared_ptr<const std::string>& message) {
  INGOT_CHECK(from != to && to < replicas(), "a message to oneself or to nobody");
  ++messages_sent_;
  bytes_sent_ += message->size();
  if (!loses(from, to)) link(from, to).push_back(message);
}

}  // namespace ingot::testing
