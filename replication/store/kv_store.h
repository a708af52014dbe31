// The replicated key-value store: etcd's semantics as a deterministic state machine. See docs/store.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "replication/store/api.h"
#include "replication/store/codec.h"
#include "replication/store/events.h"
#include "replication/store/history.h"
#include "replication/store/leases.h"
#include "replication/store/quota.h"
#include "replication/store/range.h"
#include "replication/store/sliced_write.h"
#include "replication/store/state_machine.h"

namespace ingot::kv {

// Commands and queries are encoded Requests, results encoded Results (replication/store/api.h). Not thread-safe.
class KvStore final : public StateMachine {
 public:
  // REQUIRES: all replicas have the same quota.
  explicit KvStore(Quota quota = Quota()) : quota_(quota) {}

  // Carries out any request; a read-only one changes nothing. Each call also frees kCompactionStepVersions of compacted
  // versions, and more if these are fewer bytes than the command has added: so no single command pays for all of them,
  // and they grow no further however fast commands come.
  std::string apply(Slot slot, std::string_view command) override;
  std::optional<std::string> apply_some(Slot slot, std::string_view command, StepBudget& steps) override;
  // Looks up the key of a put.
  void expect(std::string_view command) const override { history_.expect(put_key(command)); }

  // Answers a range, a hash, the alarm's state, events, what concerns leases and changes none, or a transaction that
  // cannot write; any other request is kMalformed.
  std::string query(std::string_view query) const override;

  // Of a transaction that reads ranges.
  std::unique_ptr<QueryInSteps> query_in_steps(std::string_view query) const override;

  // Of events only.
  std::unique_ptr<StandingQuery> stand(std::string_view query) const override;

  using StateMachine::save;
  void save(Sink sink) const override;
  std::size_t save_bytes() const override;
  absl::StatusOr<Load> decode(std::string_view snapshot) override;
  std::uint64_t digest() const override;

  // What was loaded is the first state of another life: every lease has its whole time again, and no tick has come. The
  // revision goes on from `bump` revisions higher. With `compact` all revisions up to that one are compacted, so that a
  // reader of later revisions that are lost is told so. REQUIRES: bump >= 0; nothing is under way.
  void begin_anew(Revision bump, bool compact);

  // It runs while there are leases.
  Clock clock() const override;

  Revision revision() const { return revision_; }
  Revision compact_revision() const { return compacted_; }  // -1: never compacted, as etcd reports it
  std::int64_t live_keys() const { return history_.live_keys(); }
  std::int64_t bytes() const { return history_.bytes(); }        // of keys and values, history included
  std::int64_t versions() const { return history_.versions(); }  // held, including those still to be freed
  const Quota& quota() const { return quota_; }
  CountedBytes counted() const {  // what the quota bounds
    CountedBytes counted = history_.counted();
    counted.live += leases_.counted();
    return counted;
  }
  // By the same rule all that is held, also what was compacted and waits to be freed. At most the most that counted at
  // any time, the tombstones of the compacted revision of that time included.
  std::int64_t held() const { return history_.held() + leases_.counted(); }
  bool no_space() const { return no_space_; }                  // the NOSPACE alarm stands
  std::int64_t leases() const { return static_cast<std::int64_t>(leases_.size()); }
  std::int64_t leases_ended() const { return leases_ended_; }  // by time, since this object began

  // digest() computed from all versions held: equal unless the store is broken.
  std::uint64_t compute_digest() const;

 private:
  class StandingEvents;
  class ReadingTxn;

  // A command that is not applied yet: it writes, the store goes over to its revision, and then it frees.
  struct UnderWay {
    std::unique_ptr<SlicedWrite> writes;  // null: it is written
    std::string result;
    std::int64_t held_before;  // no initializer here: clang takes a nested class with one for not constructible
    std::optional<History::Freeing> frees;
  };

  ReadPoint read_point() const { return {revision_, compacted_}; }
  void begin(std::string_view command);
  bool go_on(StepBudget& steps);
  void go_over(const Result& result);
  std::string put(const PutView& put);
  std::string write(Request& request);
  std::string write_leases(const Request& request);
  Code grant(const LeaseGrantRequest& request, LeaseGrantResult& result);
  Code revoke(std::int64_t id);
  void tick(const Tick& tick);
  void end_lease(std::int64_t id);
  Code compact(Revision revision);
  AlarmResult change_alarm(AlarmRequest::Action action);
  std::string read(Request& request) const;
  std::string read(const RangeRequest& request) const;
  std::string read(const HashRequest& request) const;
  std::string read(const EventsRequest& request) const;
  std::string read(TxnRequest& request) const;
  std::string read_alarm() const;
  std::string read(const LeaseTimeToLiveRequest& request) const;
  std::string read(const LeasesRequest& request) const;
  std::uint64_t digest_of(std::uint64_t history_digest, std::uint64_t leases_digest) const;
  std::string failure(Code code) const;
  static absl::StatusOr<KvStore> read_snapshot(std::string_view snapshot);

  Quota quota_;
  History history_;
  Leases leases_;
  Revision revision_ = 1;
  Revision compacted_ = -1;
  bool no_space_ = false;
  std::optional<UnderWay> under_way_;
  std::uint64_t loads_ = 0;  // of states: each has ended what a read in steps has found
  std::int64_t leases_ended_ = 0;
};

}  // namespace ingot::kv
