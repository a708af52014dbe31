#include "tests/simulation/plan.h"

#include <algorithm>

#include "core/prng.h"

namespace ingot::simulation {

namespace {

using Kind = Fault::Kind;
using Victims = Fault::Victims;

constexpr int kWritesMin = 200;
constexpr int kFaultsMin = 3;
constexpr std::size_t kCommandBytesMax = 64;  // of one operation, in a batch
constexpr std::size_t kRecordBytes = 64;      // of a slot's record in a segment, besides its command, generously

class Drawer {
 public:
  Drawer(const Options& options, Plan& plan)
      : options_(options),
        plan_(plan),
        prng_(options.seed),
        rare_(options.seed ^ 0x72617265),
        room_(options.seed ^ 0x726f6f6d),
        bounds_(options.seed ^ 0x626f756e),
        long_(options.seed ^ 0x6c6f6e67),
        kept_(options.seed ^ 0x6b657074),
        roles_(options.seed ^ 0x726f6c6573),
        batches_(options.seed ^ 0x6261746368),
        doubts_(options.seed ^ 0x646f756274),
        quota_(options.seed ^ 0x71756f7461),
        churn_(options.seed ^ 0x636875726e),
        steps_(options.seed ^ 0x7374657073) {}

  void draw() {
    draw_network();
    draw_bounds();
    draw_replicas();
    draw_clients();
    horizon_ns_ = between(5 * kMs, 150 * kMs);
    plan_.client.pause_ns = between(horizon_ns_ / 40, horizon_ns_ / 8);
    plan_.writes = kWritesMin + static_cast<int>(prng_.below(20));
    const int faults = kFaultsMin + static_cast<int>(prng_.below(6));
    for (int i = 0; i < faults; ++i) plan_.faults.push_back(draw_fault());
    if (prng_.chance(0.18)) lose_both_roles(plan_.faults[prng_.below(plan_.faults.size())]);
    if (options_.kills && prng_.chance(0.02)) lose_everybody(plan_.faults.back());
    if (options_.kills && rare_.chance(0.15)) plan_.faults.push_back(lose_a_promiser());
    if (options_.agreement == "1paxos" && rare_.chance(0.3)) narrow_in_flight();
    if (options_.kills && options_.agreement != "2pc" && rare_.chance(0.05))
      plan_.faults.push_back(lose_everybody_once());
    if (options_.kills && options_.agreement == "1paxos" && rare_.chance(0.08)) bring_the_acceptor_back();
    if (options_.agreement == "1paxos" && rare_.chance(0.3)) plan_.bounds.repeat_bytes = rare_.below(1000);
    if (options_.agreement == "1paxos") draw_changes_of_roles();
    draw_snapshots();
    if (late_snapshots_) wait_for_snapshots();
    else if (room_.chance(0.6)) narrow_segments();
    if (options_.replicas > 2 && room_.chance(0.25)) draw_trees();
    if (bounds_.chance(0.3)) plan_.bounds.leader_changes = 1 + static_cast<int>(bounds_.below(4));
    plan_.replica.bounds.blocked_after_ns = 10 * kMs + long_.below(200 * kMs);
    if (long_.chance(0.08)) plan_.faults.push_back(stop_most());
    if (options_.kills && options_.agreement == "1paxos") draw_kept_segments();
    if (doubts_.chance(0.7)) draw_doubts();
    // Room for some ten to a hundred writes: then they are refused until clients have compacted and disarmed the alarm.
    if (quota_.chance(0.15)) plan_.replica.quota_bytes = 2000 + static_cast<std::int64_t>(quota_.below(12'000));
    if (churn_.chance(0.2)) draw_churn();
    if (steps_.chance(0.4)) draw_steps();
    std::sort(plan_.faults.begin(), plan_.faults.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; });
  }

 private:
  TimeNs between(TimeNs low, TimeNs high) { return low + prng_.below(high - low + 1); }
  int between_int(int low, int high) {
    return low + static_cast<int>(prng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  void draw_network() {
    NetworkFaultSchedule& network = plan_.network;
    network.channel_messages = prng_.chance(0.3) ? 1 + prng_.below(8) : 64;
    plan_.replica.outbox.messages = prng_.chance(0.3) ? 1 + prng_.below(20) : 1000;
    network.delay_min_ns = between(100, 2000);
    network.delay_spread_ns = prng_.chance(0.5) ? between(100, 3000) : between(3000, 200 * kUs);
    network.straggler = prng_.chance(0.3) ? 0.01 * prng_.unit() : 0;
    network.straggler_ns = between(kMs, 20 * kMs);
  }

  void draw_bounds() {
    AgreementBounds& bounds = plan_.bounds;
    bounds.window_slots = between_int(1, 16);
    // As between real replicas: the messages sent when a backlog has drained fit into it.
    std::size_t& backlog = plan_.replica.outbox.messages;
    backlog = std::max(backlog, static_cast<std::size_t>(bounds.window_slots) + 4);
    plan_.client.outbox.messages = backlog;
    bounds.learner_ahead_slots = bounds.window_slots + between_int(0, 40);
    bounds.command_log_slots = prng_.chance(0.4) ? between_int(1, 40) : 400;
    bounds.suspect_ticks = between_int(2, 10);
    // Room for a few small batches: then some votes are no, and clients send their requests again at different times.
    if (options_.agreement == "2pc" && prng_.chance(0.4)) bounds.prepared_bytes = 250 + rare_.below(500);
  }

  void draw_replicas() {
    ReplicaFaultSchedule& replica = plan_.replica;
    replica.bounds.pipeline_slots = prng_.chance(0.3) ? 1 : between_int(1, 16);
    replica.poll_messages = prng_.chance(0.3) ? 1 : 16;
    replica.bounds.trim_slots = between_int(1, 40);
    replica.bounds.tick_ns = between(200 * kUs, 5 * kMs);
    replica.poll_cost_ns = between(100, 1000);
    replica.message_cost_ns = between(20, 500);
    plan_.notice_ns_max = prng_.chance(0.7) ? 200 * kUs : 20 * kMs;
    plan_.write_ns_max = plan_.decode_ns_max = prng_.chance(0.5) ? 100 * kUs : 10 * kMs;
    plan_.fencing = prng_.chance(0.2);
  }

  void draw_clients() {
    ClientSchedule& client = plan_.client;
    client.clients = between_int(2, 4);
    client.window = between_int(1, 4);
    client.keys = 1 + static_cast<std::uint32_t>(prng_.below(4));
    client.reads = 0.05 + 0.25 * prng_.unit();
    client.compares = 0.5 * prng_.unit();
    client.bursts = 0.02 + 0.2 * prng_.unit();
    client.session.retry_ms = between(kMs, 50 * kMs) / kMs;
    client.session.scan_ms = 1 + room_.below(10);
    // As with the real bounds: a client reports a silent leader before it sends the request again.
    client.session.suspect_ms = 1 + room_.below(client.session.retry_ms);
    client.session.pause_us = 50 + room_.below(200);
    client.session.timeout_ms = room_.chance(0.15) ? 20 + room_.below(300) : kTimeoutMsNever;
    client.reads_anywhere = options_.agreement == "2pc";
    draw_batches(static_cast<std::size_t>(client.clients * client.window));
  }

  // Room for all commands that clients wait for, seldom for a few only. Of clients that give up and go on, more may have
  // come together.
  void draw_batches(std::size_t commands) {
    if (batches_.chance(0.2)) commands = batches_.below(commands);
    // An idle participant of 2PC has room for a batch, as with the real bounds. It would refuse a larger one each time,
    // and requests that are always repeated at one instant would never come in smaller ones.
    const std::size_t bytes = kCommandBytesMax * (commands + 2);
    plan_.replica.bounds.batch_bytes = std::min(bytes, plan_.bounds.prepared_bytes);
  }

  Kind draw_kind() {
    const bool kills = options_.kills;
    const std::uint64_t dice = prng_.below(100);
    if (dice < 40) return kills ? Kind::kKill : Kind::kStop;
    if (dice < 70) return Kind::kStop;
    if (dice < 84) return Kind::kSlowLink;
    if (dice < 88) return Kind::kPressure;
    return dice < 94 ? Kind::kMoveLeader : Kind::kMoveAcceptor;
  }

  Victims draw_victims() {
    const std::uint64_t dice = prng_.below(100);
    if (dice < 30) return Victims::kAnybody;
    if (dice < 55) return Victims::kLeader;
    return dice < 80 ? Victims::kAcceptor : Victims::kBystander;
  }

  Fault draw_fault() {
    Fault fault;
    fault.kind = draw_kind();
    fault.victims = draw_victims();
    fault.at = prng_.below(horizon_ns_);
    fault.lasts_ns = prng_.chance(0.5) ? between(10 * kUs, 2 * kMs) : between(kMs, 100 * kMs);
    fault.steps = prng_.chance(0.8) ? between_int(0, 30) : 0;
    fault.pick = prng_();
    fault.slow_ns = between(100 * kUs, 30 * kMs);
    fault.fresh_inbox = prng_.chance(0.5);
    fault.from_published = prng_.chance(0.3);
    fault.for_good = options_.agreement != "2pc" && prng_.chance(0.15);
    return fault;
  }

  // The case that the paper's protocol does not survive: leader and acceptor fail at the same instant, both in the same
  // way, or the leader killed and the acceptor stopped.
  void lose_both_roles(Fault& fault) {
    const bool kills = options_.kills;
    fault.kind = kills && prng_.chance(0.7) ? Kind::kKill : Kind::kStop;
    fault.victims = Victims::kLeaderAndAcceptor;
    if (kills && prng_.chance(0.25)) fault.victims = Victims::kKillLeaderStopAcceptor;
  }

  void lose_everybody(Fault& fault) {
    fault.kind = Kind::kKill;
    fault.victims = Victims::kEverybody;
  }

  Fault lose_everybody_once() {
    Fault fault;
    lose_everybody(fault);
    fault.at = rare_.below(horizon_ns_);
    fault.lasts_ns = 10 * kUs + rare_.below(5 * kMs);
    fault.steps = static_cast<int>(rare_.below(30));
    fault.pick = rare_();
    fault.fresh_inbox = rare_.chance(0.5);
    return fault;
  }

  // The acceptor's role moves around the living replicas, snapshots are late, and then all replicas die: the decisions
  // of the former epochs are in segments only.
  void bring_the_acceptor_back() {
    late_snapshots_ = true;
    const Fault end = lose_everybody_once();
    for (int i = 0; i < 4; ++i) {
      Fault move;
      move.kind = Kind::kMoveAcceptor;
      move.at = rare_.below(end.at + 1);
      move.lasts_ns = 10 * kUs;
      move.pick = rare_();
      plan_.faults.push_back(move);
    }
    plan_.faults.push_back(end);
  }

  // A round applies a part of a command only, or a few of them; seldom so much waits that it applies on.
  void draw_steps() {
    plan_.replica.bounds.apply_steps = 1 + static_cast<std::int64_t>(steps_.below(steps_.chance(0.5) ? 5 : 100));
    if (steps_.chance(0.2)) plan_.replica.bounds.unapplied_bytes = steps_.below(500);
  }

  // So many replicas are stopped that the others can do nothing but say so, for long enough that they must.
  Fault stop_most() {
    Fault fault;
    fault.kind = Kind::kStop;
    fault.victims = Victims::kMost;
    fault.at = long_.below(horizon_ns_);
    fault.lasts_ns = kSecond + long_.below(kSecond);
    fault.steps = static_cast<int>(long_.below(30));
    fault.pick = long_();
    return fault;
  }

  // The replica that promises to a new leader dies, restarts after microseconds, and then receives messages of the old
  // leader. A promise that is not in its segment would be broken.
  Fault lose_a_promiser() {
    Fault fault;
    fault.kind = Kind::kKill;
    fault.victims = Victims::kPromiser;
    fault.at = rare_.below(horizon_ns_);
    fault.lasts_ns = 5 * kUs + rare_.below(rare_.chance(0.7) ? 100 * kUs : 5 * kMs);
    fault.steps = rare_.chance(0.7) ? 0 : static_cast<int>(rare_.below(3));
    fault.pick = rare_();
    fault.slow_ns = 200 * kUs + rare_.below(5 * kMs);
    return fault;
  }

  // Changes of roles that go wrong half-way.
  void draw_changes_of_roles() {
    if (roles_.chance(0.1)) plan_.faults.push_back(lose_an_author());
    if (roles_.chance(0.1)) lose_leaders_in_turn();
    if (roles_.chance(0.1)) move_both_roles();
  }

  Fault fault_of_roles(Kind kind, Victims victims) {
    Fault fault;
    fault.kind = kind == Kind::kKill && !options_.kills ? Kind::kStop : kind;
    fault.victims = victims;
    fault.at = roles_.below(horizon_ns_);
    fault.lasts_ns = 10 * kUs + roles_.below(40 * kMs);
    fault.steps = static_cast<int>(roles_.below(3));
    fault.pick = roles_();
    fault.slow_ns = 100 * kUs + roles_.below(10 * kMs);
    return fault;
  }

  Fault lose_an_author() { return fault_of_roles(roles_.chance(0.5) ? Kind::kKill : Kind::kStop, Victims::kAuthor); }

  // The acceptor is silent, so new leaders walk back; each is lost soon after the one before.
  void lose_leaders_in_turn() {
    Fault fault = fault_of_roles(Kind::kStop, Victims::kAcceptor);
    fault.lasts_ns = 20 * kMs + roles_.below(60 * kMs);
    plan_.faults.push_back(fault);
    for (TimeNs at = fault.at; roles_.chance(0.7) && at < fault.at + fault.lasts_ns;) {
      Fault next = fault_of_roles(roles_.chance(0.5) ? Kind::kKill : Kind::kStop, Victims::kLeader);
      next.at = at += 100 * kUs + roles_.below(15 * kMs);
      plan_.faults.push_back(next);
    }
  }

  // The operator moves both roles at the same instant, so one of the two entries loses.
  void move_both_roles() {
    const Fault leader = fault_of_roles(Kind::kMoveLeader, Victims::kAnybody);
    Fault acceptor = fault_of_roles(Kind::kMoveAcceptor, Victims::kAnybody);
    acceptor.at = leader.at;
    plan_.faults.push_back(leader);
    plan_.faults.push_back(acceptor);
  }

  // A configuration entry has room for the in-flight entries of one window, for the batch after it, and for a few
  // decided slots that a slow voter may lack.
  void narrow_in_flight() {
    AgreementBounds& bounds = plan_.bounds;
    bounds.window_bytes = 200 + rare_.below(600);
    bounds.in_flight_bytes = rare_.below(3000) + bounds.window_bytes + 2 * plan_.replica.bounds.batch_bytes +
                         static_cast<std::size_t>(bounds.window_slots + 1) * kInFlightSlotBytes;
  }

  // Snapshots after a short log, which travel in small parts and reach the supervisor late.
  void draw_snapshots() {
    SnapshotBounds& snapshots = plan_.replica.bounds.snapshots;
    snapshots.log_bytes_min = 100 + room_.below(room_.chance(0.5) ? 1000 : 10'000);
    snapshots.log_step_bytes = 1 + room_.below(500);
    snapshots.part_bytes = 50 + room_.below(1000);
    snapshots.window_bytes = snapshots.part_bytes * (2 + room_.below(10));
    snapshots.confirm_bytes = 1 + room_.below(snapshots.window_bytes / 2);
    snapshots.useful_slots = static_cast<std::uint64_t>(plan_.bounds.command_log_slots) / 2;
    snapshots.parts_per_round = 1 + static_cast<int>(room_.below(4));
    snapshots.after_change_ticks = static_cast<int>(room_.below(20));
    snapshots.wait_ticks = 1 + static_cast<int>(room_.below(10));
    snapshots.silent_ticks = 5 * snapshots.wait_ticks + static_cast<int>(room_.below(40));
    snapshots.fruitless_ticks = 10 * snapshots.silent_ticks;
    snapshots.quiet_ticks = 2 + static_cast<int>(room_.below(40));
    plan_.publish_ns_max = room_.chance(0.7) ? 200 * kUs : 20 * kMs;
    plan_.snapshot_fails = room_.chance(0.2) ? 0.3 * room_.unit() : 0;
  }

  // The supervisor rarely gets a snapshot before the faults end: decisions are in segments only, which have room for them.
  void wait_for_snapshots() {
    plan_.write_ns_max = 4 * horizon_ns_;
    plan_.snapshot_fails = 0;
  }

  // A deposed leader's proposals fill at most a third of a segment, and its successor stores them again: so a window
  // and a batch take at most a sixth.
  void narrow_segments() {
    AgreementBounds& bounds = plan_.bounds;
    const auto slots = static_cast<std::size_t>(bounds.window_slots + 2);
    bounds.window_bytes = std::min(bounds.window_bytes, static_cast<std::size_t>(400 + room_.below(2000)));
    const std::size_t window = bounds.window_bytes + 2 * plan_.replica.bounds.batch_bytes + kRecordBytes * slots;
    const std::size_t bytes = 6 * window + room_.below(12 * window);
    plan_.replica.segment_bytes = bytes / kStableRecordAlignment * kStableRecordAlignment;
    bounds.repeat_bytes = std::min(bounds.repeat_bytes, static_cast<std::size_t>(room_.below(bytes / 24)));
  }

  // Room for the segments of a few ended incarnations; now and then many incarnations of acceptors end, no snapshot is
  // published in time, and all replicas die.
  void draw_kept_segments() {
    if (kept_.chance(0.3)) plan_.kept_bytes = kept_.below(4000);
    if (!kept_.chance(0.04)) return;
    wait_for_snapshots();
    plan_.replica.segment_bytes = ReplicaFaultSchedule().segment_bytes;
    Fault end;
    lose_everybody(end);
    end.at = horizon_ns_;
    end.lasts_ns = 10 * kUs + kept_.below(5 * kMs);
    end.pick = kept_();
    const int kills = 4 + static_cast<int>(kept_.below(20));
    for (int i = 0; i < kills; ++i) {
      Fault kill = end;
      kill.victims = kept_.chance(0.7) ? Victims::kAcceptor : Victims::kLeader;
      kill.at = kept_.below(horizon_ns_);
      kill.lasts_ns = 10 * kUs + kept_.below(500 * kUs);
      kill.steps = static_cast<int>(kept_.below(30));
      kill.pick = kept_();
      plan_.faults.push_back(kill);
    }
    plan_.faults.push_back(end);
  }

  // The kernel tells of stops: at once, late, not all processes, and now and then wrongly.
  void draw_doubts() {
    plan_.stops_told = doubts_.chance(0.6) ? 1 : doubts_.unit();
    plan_.stop_notice_ns_max = doubts_.chance(0.6) ? 200 * kUs : kMs + doubts_.below(60 * kMs);
    plan_.client.session.doubt_ms = 1 + doubts_.below(100);
    while (doubts_.chance(0.4)) plan_.faults.push_back(doubt_wrongly());
  }

  Fault doubt_wrongly() {
    Fault fault;
    fault.kind = Kind::kDoubt;
    fault.victims = doubts_.chance(0.5) ? Victims::kLeader : Victims::kAcceptor;
    if (doubts_.chance(0.3)) fault.victims = doubts_.chance(0.5) ? Victims::kAnybody : Victims::kLeaderAndAcceptor;
    fault.at = doubts_.below(horizon_ns_);
    fault.lasts_ns = 10 * kUs + doubts_.below(40 * kMs);
    fault.pick = doubts_();
    return fault;
  }

  // Transactions that change a key several times, and compactions often at their revisions.
  void draw_churn() {
    plan_.client.churns = 0.2 + 0.5 * churn_.unit();
    plan_.client.compacts = 0.02 + 0.2 * churn_.unit() * churn_.unit();
  }

  void draw_trees() {
    constexpr const char* kShapes[] = {"two-level", "binary", "fibonacci"};
    plan_.tree_shape = kShapes[room_.below(std::size(kShapes))];
  }

  const Options& options_;
  Plan& plan_;
  Prng prng_;
  Prng rare_;    // for draws that were added later, so that the older draws of a seed stay the same
  Prng room_;    // likewise
  Prng bounds_;  // likewise
  Prng long_;    // likewise
  Prng kept_;    // likewise
  Prng roles_;   // likewise
  Prng batches_;  // likewise
  Prng doubts_;   // likewise
  Prng quota_;    // likewise
  Prng churn_;    // likewise
  Prng steps_;    // likewise
  bool late_snapshots_ = false;
  TimeNs horizon_ns_ = 0;
};

}  // namespace

Plan::Plan(const Options& options) {
  Drawer(options, *this).draw();
  writes = std::min(writes, options.writes_max);
  if (faults.size() > static_cast<std::size_t>(options.faults_max)) {
    faults.resize(static_cast<std::size_t>(options.faults_max));
  }
}

}  // namespace ingot::simulation
