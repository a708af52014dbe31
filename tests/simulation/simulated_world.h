// The clock of a run, its faults, deaths and their consequences, and the supervisor.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/prng.h"
#include "tests/simulation/client.h"
#include "tests/simulation/environment.h"
#include "tests/simulation/group.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/world.h"

namespace ingot::simulation {

// A run has a few actors: replicas, clients, and the world's own events. The actor that is due first acts. Not
// thread-safe.
class SimulatedWorld final : public Environment {
 public:
  explicit SimulatedWorld(const Options& options) : SimulatedWorld(options, Plan(options)) {}
  SimulatedWorld(const SimulatedWorld&) = delete;

  Outcome run();

  bool at_crash_point(int replica) override;
  bool has_sent(int replica, MessageType type) override;
  bool accepts(int replica, ReplicaIncarnation name) const override;
  void gone_over(int replica, ReplicaIncarnation name) override;
  void answer_later(int replica, Notice notice) override;
  void move_answered(std::size_t fault, bool begun) override;
  bool fence(ReplicaIncarnation name) override;
  void publish(int replica, PublishedSnapshot snapshot) override;
  std::vector<Incarnation> kept_incarnations(EndpointId replica) const override { return group_.kept().kept(replica); }
  KeptSegments kept_segments() const override { return kept_segments_; }
  Slot published_below() const override { return published_ ? published_->name.slot : Slot(0); }
  Value operation_of(std::uint64_t client, std::uint64_t sequence) const override;
  bool traces() const override { return options_.trace; }
  void trace(const std::string& line) override;

 private:
  SimulatedWorld(const Options& options, Plan plan);

  struct Event {
    enum class Kind : std::uint8_t {
      kFault,      // fault `number` begins: victims are chosen, and crashed some steps later
      kInject,     // it strikes now, unless it has struck before
      kEnd,        // of fault `number`, for `replica` (-1: for all that it affects)
      kNotice,     // `replica`, or the client at that endpoint, gets `notice`
      kPublished,  // the supervisor has `snapshot`
      kFence,      // `name` is killed, as a replica asked
    };
    TimeNs at = 0;
    Kind kind = Kind::kFault;
    int replica = -1;
    std::size_t number = 0;
    ReplicaIncarnation name{};
    Incarnation receiver{};  // the event is void if `replica` has begun another incarnation meanwhile
    Notice notice{};
    PublishedSnapshot snapshot{};
  };
  // A fault that waits for its victim's next steps.
  struct Armed {
    std::size_t fault = 0;
    int replica = 0;
    int steps = 0;
  };

  // The loop.
  bool step();
  TimeNs next_poll(int replica) const;
  void poll_replica(int replica);
  void poll_client(std::size_t client);
  void act(const Event& event);
  void end_fenced(ReplicaIncarnation name);
  void take_published(const PublishedSnapshot& snapshot);
  void release_segments();
  void post(Event event);

  // The end of a run.
  bool blocks_for_good() const;
  void check_blocked();
  std::string find_violation() const;
  void check_silence();
  bool cause_shown() const;
  bool finished();
  bool all_up_to_date() const;
  void calm_down();
  void check_at_rest();
  std::string describe_standstill(const char* what) const;

  // Faults.
  void begin(std::size_t fault);
  void await_promise(std::size_t fault);
  void await_entry(std::size_t fault);
  std::vector<int> choose_victims(const Fault& fault);
  std::vector<int> choose_most(const Fault& fault) const;
  int choose_any(const Fault& fault, bool bystander) const;
  void inject(std::size_t fault);
  bool take_down(std::size_t fault);
  void slow_down(const Fault& fault);
  void doubt(std::size_t fault, Notice::Kind kind);
  void move(std::size_t fault, Role role);
  void end(std::size_t fault, int replica);
  void close(std::size_t fault);

  // Incarnations.
  bool may_stay_dead(int replica) const;
  bool others_know(int replica) const;
  void kill(int replica, bool fresh_inbox);
  void stop(int replica);
  void go_on(int replica);
  void restart(int replica, bool from_published);
  void take_sent(int replica);
  void tell(int endpoint, Notice notice, TimeNs ns_max);
  void tell_all_of(int replica, Notice::Kind kind);
  void tell_some_of(int replica, Notice::Kind kind);
  void poll_roles(int replica);

  const Options options_;
  const Plan plan_;
  Prng prng_;
  std::vector<std::vector<Incarnation>> accepted_;  // by replica and peer: the incarnation whose messages it takes
  PublishedSnapshot published_;                     // kept by the supervisor
  std::vector<PublishedSnapshot> sent_snapshots_;   // by replica: the newest of its present incarnation; null: none
  KeptSegments kept_segments_ = KeptSegments::kFew;
  SimulatedGroup group_;
  Workload workload_;
  std::deque<Client> clients_;  // a deque, so that they do not move
  std::vector<Event> events_;
  std::vector<Armed> armed_;
  std::vector<Armed> wait_for_message_;      // faults that wait for some replica's next message of one kind
  std::vector<std::vector<int>> victims_;    // by fault
  std::vector<int> open_ends_;               // by fault: victims that have not returned
  std::vector<bool> injected_faults_;
  std::vector<std::unique_ptr<SimulatedReplica>> graveyard_;  // dead, but perhaps still on the stack
  std::size_t faults_open_ = 0;  // not begun, or not over
  int fences_open_ = 0;
  int dead_voters_ = 0;  // for good
  TimeNs now_ = 0;
  TimeNs calm_since_ = kNever;
  bool idle_ = false;     // no event will happen any more
  bool closing_ = false;  // a last write makes each replica notice what it missed
  std::string violation_;
  Ballot highest_ballot_;
  Epoch highest_epoch_;
  Tally tally_;
  std::vector<std::string> trace_;
};

}  // namespace ingot::simulation
