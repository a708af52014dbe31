// What a replica's core asks its driver to do: one thing at a time, in one order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/gathered_message.h"
#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/snapshots/format.h"
#include "replication/replica/snapshots/transfer.h"
#include "replication/requests/shared_message.h"

namespace ingot::inline replication_replica {

// All fields are views into the core's memory, valid and unchanged until ReplicaCore::done().
struct Action {
  enum class Kind : std::uint8_t {
    kStore,            // `write` goes into the stable store, before anything that follows
    kSend,             // `message` goes to `to`, a replica or a client; it may be dropped only if its backlog is full
    kApply,            // `decision` is applied by done(); the answers to clients follow, each as a kSend
    kApplyOn,          // the same for one that kApply, or this, has applied in part, in an earlier round
    kInstallSnapshot,  // slots below `slot` come with a decoded snapshot, which done() puts in place
    kFlush,            // backlogs move on; channel_drained() answers for each peer that had lost something
    kWake,             // sleeping receivers of this round's messages are woken; the rest of the round is less urgent
    kReadSegment,      // of `incarnation`, which is dead; segment_read() answers. Commands below `slot` are not needed
    kReadHistory,      // of every segment that is present; history_read() answers for each. `slot` likewise
    kWriteSnapshot,    // of the state as it is now, slots below `slot`; snapshot_written() or snapshot_failed() answers
    kPublishSnapshot,  // `file`, of the slots below `slot`, goes to the keeper; repeated until it is published
    kLoadSnapshot,     // `snapshot` is decoded; snapshot_decoded() answers. Its memory may be released after that
    kFence,            // `incarnation` is killed; fenced() answers
    kLog,              // `line`, without a line end, goes to the operator's log
  };

  Kind kind = Kind::kFlush;
  EndpointId to{};
  ReplicaIncarnation incarnation{};
  Slot slot{};
  std::string_view line{};
  GatheredMessage message{};
  const SharedMessage* shared = nullptr;  // kSend: holds `message`, for a queue to keep; or null
  const StableWrite* write = nullptr;
  const Decision* decision = nullptr;
  const SnapshotServer::File* file = nullptr;
  const SnapshotBytes* snapshot = nullptr;
};

}  // namespace ingot::replication_replica
