#include <fcntl.h>

#include <algorithm>

#include "core/check.h"
#include "replication/pages/pages.h"
#include "services/handover/handover_state.h"
#include "services/launch/launch_spec.h"
#include "services/launch/supervision_channel.h"
#include "tests/fuzz/targets.h"
#include "transport/host/segment.h"

namespace ingot::fuzz {
namespace {

constexpr int kReplicas = 2;

// The memory behind every descriptor of the instance.
int memory() {
  static const Descriptor fd = *create_segment("fuzz", sizeof(DaemonPage));
  return fd.get();
}

LaunchSpec sample_spec(Prng& rng) {
  LaunchSpec spec;
  spec.config.name = "fuzz";
  spec.config.replicas = kReplicas;
  spec.fabric_fds.assign(1 + 2 * static_cast<std::size_t>(endpoints_of(spec.config)), memory());
  spec.control_fd = spec.daemon_page_fd = memory();
  for (int id = 0; id < kReplicas; ++id) {
    ReplicaLaunch launch;
    launch.id = id;
    launch.page_fd = launch.stable_fd = memory();
    const std::uint64_t ended = rng.below(3);
    for (std::uint64_t i = 0; i < ended; ++i) launch.earlier.push_back({launch.incarnation++, memory()});
    spec.replicas.push_back(launch);
  }
  if (rng.chance(0.5)) {
    spec.snapshot_fd = memory();
    spec.snapshot_slot = rng.below(100);
  }
  spec.trees.initial = std::string(rng.below(20), '\xc7');
  spec.trees.cores.assign(rng.below(3), 1);
  return spec;
}

std::vector<Descriptor> descriptors(std::size_t count) {
  std::vector<Descriptor> fds;
  for (std::size_t i = 0; i < count; ++i) fds.emplace_back(::fcntl(memory(), F_DUPFD_CLOEXEC, 0));
  return fds;
}

// Grows with every incarnation and snapshot.
std::uint64_t knowledge(const HandoverState& state) {
  supervision_v1::Orphaned said;
  state.describe(said);
  std::uint64_t sum = said.snapshot_slot();
  for (const std::uint32_t incarnation : said.incarnations()) sum += incarnation;
  return sum;
}

// A process's side: its handover state takes any message.
void receive_in_process(const SupervisionMessage& message, std::size_t fds) {
  Prng rng(1);
  auto state = HandoverState::copy(sample_spec(rng));
  INGOT_CHECK(state.ok());
  const std::uint64_t before = knowledge(*state);
  if (message.has_incarnation()) {
    state->begin_incarnation(message.incarnation(), descriptors(fds)).IgnoreError();
  }
  if (message.has_kept()) state->keep_incarnations(message.kept());
  if (message.has_snapshot()) state->keep_snapshot(message.snapshot(), std::move(descriptors(fds).front()));
  INGOT_CHECK(knowledge(*state) >= before, "no message makes a process forget an incarnation or the snapshot");
  auto other = HandoverState::copy(sample_spec(rng));
  INGOT_CHECK(other.ok());
  const std::uint64_t most = std::max(knowledge(*state), knowledge(*other));
  state->merge(*std::move(other));
  INGOT_CHECK(knowledge(*state) >= most, "both together know what either knows");
}

// A new supervisor's side, which assembles the state that a process hands over.
void receive_handover(const SupervisionMessage& message, std::size_t fds) {
  HandoverStateReceiver receiver;
  for (int i = 0; i < 3; ++i) {
    if (!receiver.add(message, descriptors(fds)).ok()) return;
  }
}

}  // namespace

// The first byte is the number of descriptors of the message after it.
void run_supervision_message(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t fds = static_cast<unsigned char>(bytes[0]) % 4;
  const auto message = decode_supervision_message(bytes.substr(1), fds);
  if (!message) return;
  const auto again = decode_supervision_message(message->SerializeAsString(), fds);
  INGOT_CHECK(again && again->SerializeAsString() == message->SerializeAsString(), "what is received can be passed on");
  if (message->has_failed()) static_cast<void>(status_of(message->failed()));
  receive_in_process(*message, fds);
  receive_handover(*message, fds);
}

std::string sample_supervision_message(Prng& rng) {
  const auto with = [](int fds, const SupervisionMessage& message) {
    return static_cast<char>(fds) + message.SerializeAsString();
  };
  SupervisionMessage message;
  switch (rng.below(10)) {
    case 0:
      return with(0, rng.chance(0.5) ? ready_message() : adopted_message());
    case 1:
      return with(0, failed_message(absl::NotFoundError("gone")));
    case 2:
      return with(1, snapshot_message(Slot(rng.below(200)), Incarnation(1)));
    case 3:
      message.mutable_orphaned()->set_version("1.2.3");
      return with(0, message);
    case 4:
      message.mutable_handover_document()->set_descriptors(static_cast<std::uint32_t>(1 + rng.below(20)));
      return with(1, message);
    case 5:
      message.mutable_take_descriptors()->set_floor(10);
      message.mutable_take_descriptors()->add_numbers(static_cast<int>(3 + rng.below(7)));
      return with(1, message);
    case 6:
      return with(0, kept_message(static_cast<int>(rng.below(kReplicas)), std::vector{Incarnation(1), Incarnation(3)}));
    case 7:
      message = incarnation_message(static_cast<int>(rng.below(kReplicas)), 5, std::vector{Incarnation(2)});
      message.mutable_incarnation()->set_ended(true);
      return with(1, message);
    default: {
      const auto endpoint = static_cast<int>(rng.below(kReplicas + 1));
      return with(endpoint < kReplicas ? 2 : 1,
                  incarnation_message(endpoint, static_cast<std::uint32_t>(1 + rng.below(9))));
    }
  }
}

void run_launch_document(std::string_view bytes) {
  const auto spec = decode_launch_spec(bytes);
  if (!spec.ok()) return;
  INGOT_CHECK(spec->config.replicas == static_cast<int>(spec->replicas.size()));
  const auto again = decode_launch_spec(encode_launch_spec(*spec));
  INGOT_CHECK(again.ok() && again->descriptors() == spec->descriptors() && again->fabric_fds == spec->fabric_fds,
              "what is read can be passed on");
}

std::string sample_launch_document(Prng& rng) { return encode_launch_spec(sample_spec(rng)); }

}  // namespace ingot::fuzz
