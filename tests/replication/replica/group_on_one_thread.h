// A whole group on one thread: real transport, agreement, store and front-end client, polled in turn, so that a test
// decides which of them run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/client/session_client.h"
#include "replication/replica/replica.h"
#include "replication/stable/segment.h"
#include "replication/store/api.h"
#include "replication/store/kv_store.h"
#include "transport/host/fabric.h"
#include "transport/host/host_transport.h"
#include "transport/host/peer_incarnations.h"

namespace ingot {

class GroupOnOneThread {
 public:
  // The client first asks `responder` to answer its commands; without one, the first replica to know decisions. `tree`:
  // a shape for broadcasts (replication/replica/trees/plan.h), with all replicas on one core.
  GroupOnOneThread(const std::string& agreement, const std::string& transport, int replicas, std::uint64_t seed,
                   std::optional<EndpointId> responder = std::nullopt, const std::string& tree = "star");
  ~GroupOnOneThread();

  int replicas() const { return static_cast<int>(members_.size()); }

  // Whether the member is polled; without polls it is like a stopped process.
  void set_running(int replica, bool running) { members_[replica]->running = running; }

  // Stops the member, or lets it go on, and the supervisor's page says that the kernel has reported so.
  void report_stop(int replica);
  void report_continued(int replica);

  // Whether the other members are told, as by a supervisor, that a member does not run.
  void set_reported(bool reported) { reported_ = reported; }

  // Ends the member, with the kernel's mark on its segment. `told`: the supervisor's page reports the death, too.
  void kill(int replica, bool told = true);
  bool alive(int replica) const { return members_[replica]->replica != nullptr; }

  // Starts the next incarnation of a dead member and tells all others, as a supervisor does; stopped ones get the
  // message when they go on.
  void restart(int replica);
  std::uint32_t incarnation(int replica) const { return launches_[replica].incarnations.back().incarnation.value(); }

  // Submits a request; the result is set when the answer has arrived.
  struct Answer {
    bool arrived = false;
    ReplicaReply::Outcome outcome{};
    std::string payload;
    kv::Result result() const;
  };
  std::shared_ptr<Answer> submit(RequestKind kind, const kv::Request& request,
                                 EndpointId replica = ReplicaClient::kAnyReplica);

  // Submits bytes that need not be a valid request; the answer is ignored.
  void submit_bytes(const std::string& command);

  // Polls every running member once, in seeded random order; virtual time advances by `step_ns`.
  void round(std::uint64_t step_ns = 100'000);

  // Runs rounds until no member has found work for a while and no answer is outstanding; fails after very many.
  void settle();

  // Submits a put and settles.
  kv::Result put(const std::string& key, const std::string& value);
  kv::Result get(const std::string& key);

  const Applier& applier(int replica) const { return members_[replica]->replica->applier(); }
  const ReplicaPage& page(int replica) const { return *launches_[replica].page; }
  // True if it sleeps until a message arrives.
  bool idle(int replica) const { return members_[replica]->replica->deadline_ns() == Pollable::kNever; }
  AgreementStatus status(int replica) const { return members_[replica]->agreement->status(); }
  const TreeRouter& trees(int replica) const { return *members_[replica]->replica->trees(); }

 private:
  // What a supervisor keeps for a member, across its incarnations.
  struct Launch {
    Segment page_segment;
    ReplicaPage* page = nullptr;
    std::vector<Descriptor> stable;  // by incarnation
    IncarnationSegments incarnations;
  };
  // A message about a new incarnation that a member has not read yet.
  struct Word {
    EndpointId endpoint;
    Incarnation incarnation;
    int inbox;
    std::shared_ptr<const Segment> stable;
  };
  struct Member {
    bool running = true;
    std::optional<Fabric> fabric;  // as mapped by this member
    std::unique_ptr<StableSegment> stable;
    kv::KvStore store;
    std::unique_ptr<ChannelTransport> transport;
    std::unique_ptr<PeerIncarnations> incarnations;
    std::vector<Word> words;
    const Agreement* agreement = nullptr;  // owned by the replica
    std::unique_ptr<Replica> replica;
  };

  void make_launch();
  void add_member(int id);
  void begin_stable(Launch& launch, Incarnation incarnation);
  void receive(Member& member);
  Fabric attach() const;
  std::vector<Incarnation> incarnations() const;
  TreeOptions tree_options(int voters) const;

  const std::string agreement_;
  const std::string transport_;
  const std::string tree_;
  DaemonPage daemon_{};
  Prng prng_;
  std::uint64_t now_ns_;
  std::optional<Fabric> fabric_;  // the supervisor's
  std::vector<const ReplicaPage*> pages_;
  std::vector<Launch> launches_;
  std::vector<std::unique_ptr<Member>> members_;
  std::optional<Fabric> client_fabric_;
  std::unique_ptr<ChannelTransport> client_transport_;
  std::unique_ptr<PeerIncarnations> client_incarnations_;
  std::unique_ptr<SessionClient> client_;
  int last_work_ = 0;
  bool reported_ = false;
};

}  // namespace ingot
