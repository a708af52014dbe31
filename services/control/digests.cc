#include "services/control/digests.h"

#include <memory>
#include <mutex>
#include <utility>

#include "core/wire.h"

namespace ingot::inline services_control {
namespace {

using ::ingot::control::v1::GetDigestsResponse;

// The answers so far. The last callback frees it.
struct Gathering {
  std::mutex mutex;
  GetDigestsResponse answers;  // guarded by mutex
  std::size_t missing = 0;     // guarded by mutex
  std::function<void(const GetDigestsResponse&)> done;
};

void store(const ReplicaReply& reply, GetDigestsResponse::Entry& entry) {
  if (reply.outcome != ReplicaReply::Outcome::kOk) return;
  WireReader reader(reply.payload);
  const std::uint64_t digest = reader.u64();
  if (!reader.ok()) return;
  entry.mutable_digest()->set_slot(reply.slot.value());
  entry.mutable_digest()->set_digest(digest);
}

}  // namespace

void gather_digests(ReplicaClient& client, const std::vector<EndpointId>& replicas,
                    std::function<void(const GetDigestsResponse&)> done) {
  if (replicas.empty()) return done(GetDigestsResponse());
  auto gathering = std::make_shared<Gathering>();
  gathering->missing = replicas.size();
  gathering->done = std::move(done);
  for (const EndpointId id : replicas) gathering->answers.add_replicas()->set_replica(id.value());
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const auto on_reply = [gathering, i](const ReplicaReply& reply) {
      bool last = false;
      {
        const std::lock_guard lock(gathering->mutex);
        store(reply, *gathering->answers.mutable_replicas(static_cast<int>(i)));
        last = --gathering->missing == 0;
      }
      if (last) gathering->done(gathering->answers);
    };
    client.submit(RequestKind::kDigest, "", on_reply, replicas[i]);
  }
}

}  // namespace ingot::services_control
