#include "services/scc/chip_replica.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "replication/agreement/registry.h"
#include "replication/pages/page_access.h"
#include "replication/store/gauges.h"
#include "replication/store/kv_store.h"
#include "services/scc/core_loop.h"
#include "transport/scc/chip.h"

namespace ingot::inline services_scc {
namespace {

// Charges the lines stored since the last call: for each one the way to the core's controller and back, and the
// controller's time, for which other cores wait.
class StorageCharge {
 public:
  StorageCharge(scc::Core& core, const StableSegment& stable)
      : core_(core), stable_(stable), used_(stable.used_bytes()), controller_(scc::controller_of(core.id())) {
    const int routers = scc::routers(scc::tile_of(core.id()), scc::controller_tile(controller_));
    const auto& memory = core.costs().memory;
    line_ps_ = memory.request[static_cast<std::size_t>(routers)] + memory.reply[static_cast<std::size_t>(routers)];
  }

  void operator()() {
    const std::size_t used = stable_.used_bytes();
    if (used > used_) {
      const auto lines = (used - used_ + scc::kLineBytes - 1) / scc::kLineBytes;
      core_.chip().occupy_memory(controller_, static_cast<int>(lines));
      core_.charge(lines * line_ps_);
    }
    used_ = used;
  }

 private:
  scc::Core& core_;
  const StableSegment& stable_;
  std::size_t used_;
  const int controller_;
  scc::Picoseconds line_ps_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ChipReplica>> ChipReplica::create(int id) {
  std::unique_ptr<ChipReplica> replica(new ChipReplica(id));
  auto fd = create_segment(absl::StrCat("ingot-scc-stable-", id), kStableSegmentBytes);
  if (!fd.ok()) return fd.status();
  replica->stable_fd_ = *std::move(fd);
  auto segment = Segment::map(replica->stable_fd_.get(), Segment::Access::kReadOnly);
  if (!segment.ok()) return segment.status();
  replica->segment_ = std::make_shared<const Segment>(*std::move(segment));
  auto stable = StableSegment::open(replica->stable_fd_.get(), replica->id_, Incarnation(1));
  if (!stable.ok()) return stable.status();
  replica->stable_ = *std::move(stable);
  return replica;
}

std::vector<LinkHooks> ChipReplica::link_hooks() {
  std::vector<LinkHooks> hooks;
  for (int i = 0; i < kEndpointsMax; ++i) {
    hooks.push_back({&page_->sent[i].messages, &page_->sent[i].bytes, &page_->received[i].messages,
                     &page_->received[i].bytes});
  }
  return hooks;
}

Replica::Parts ChipReplica::parts(const ChipContext& context) {
  Replica::Parts parts;
  parts.protocol.group.replicas = context.config.replicas;
  parts.protocol.group.voters = context.config.voters;
  parts.protocol.group.self = id_;
  parts.channels.endpoints = static_cast<int>(context.fabric.cores.size());
  parts.protocol.agreement = make_agreement(context.config.agreement, parts.protocol.group);
  parts.pages.own = page_.get();
  parts.pages.all = context.pages;
  parts.bounds.pipeline_slots = kPipelineSlotsOwnCore;
  parts.trees = context.trees;
  parts.deaths.segments = context.segments;
  parts.deaths.reported = &context.daemon->deaths;
  parts.op.log = context.log;
  if (context.config.fence) parts.op.fence = context.fence;
  return parts;
}

void ChipReplica::run(const ChipContext& context, scc::Core& core) {
  INGOT_CHECK(stable_ != nullptr, "a core that was killed stays dead");
  const std::unique_ptr<StableSegment> stable = std::move(stable_);
  kv::KvStore store(kv::Quota(context.config.quota_backend_bytes));
  const auto transport = scc::make_chip_transport(context.fabric, core, id_, link_hooks());
  RoomWatch watched(*transport, static_cast<int>(context.fabric.cores.size()));
  Replica::Parts all = parts(context);
  all.channels.transport = &watched;
  all.state = &store;
  all.stable = stable.get();
  all.pages.publish_state = [&store](ReplicaPage& page) { publish_store(store, page); };
  Replica replica(std::move(all));
  page_->layout_version.set(kPageLayoutVersion);
  announce_incarnation(*page_, Incarnation(1));
  CoreLoop{.fabric = context.fabric,
           .core = core,
           .transport = watched,
           .endpoint = replica,
           .cycles_per_unit = context.cycles_per_message,
           .counters = {&(*page_)[ReplicaCounter::kLoopWakeups], &(*page_)[ReplicaCounter::kLoopSleeps],
                        &(*page_)[ReplicaCounter::kLoopPolls]},
           .after_poll = StorageCharge(core, *stable)}
      .run();
}

}  // namespace ingot::services_scc
