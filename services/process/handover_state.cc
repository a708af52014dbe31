#include "services/process/handover_state.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/planning/helper_cores.h"
#include "replication/agreement/registry.h"
#include "replication/stable/incarnation_segments.h"
#include "services/process/instance_memory.h"

namespace ingot {

namespace {

// Replaces each descriptor fd of the document by replace(fd), in a fixed order.
template <typename Replace>
void replace_descriptors(LaunchSpec& spec, Replace&& replace) {
  spec.for_each_descriptor([&](int& fd) { fd = replace(fd); });
  for (int& fd : spec.fabric_fds) fd = replace(fd);
}

absl::Status refused() { return absl::InvalidArgumentError("the description of the instance is malformed"); }

}  // namespace

int HandoverState::own(Descriptor fd) {
  const int number = fd.get();
  owned_[number] = std::move(fd);
  return number;
}

absl::StatusOr<HandoverState> HandoverState::copy(const LaunchSpec& spec) {
  HandoverState instance;
  instance.spec_ = spec;
  instance.spec_.control_fd = -1;
  int error = 0;
  replace_descriptors(instance.spec_, [&](int fd) {
    Descriptor duplicate(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!duplicate.valid()) error = errno;
    return duplicate.valid() ? instance.own(std::move(duplicate)) : -1;
  });
  instance.helper_cores_ = cores_without_loops(spec.replicas);
  if (error == 0) return instance;
  const std::string text = absl::StrCat("cannot keep the instance's descriptors: ", std::strerror(error));
  return error == EBADF ? absl::InvalidArgumentError(text) : absl::ResourceExhaustedError(text);
}

bool HandoverState::begin_incarnation(const supervision_v1::NewIncarnation& started, std::span<const Descriptor> fds) {
  const auto replicas = static_cast<int>(spec_.replicas.size());
  const int endpoint = started.endpoint();
  if (endpoint < 0 || endpoint > replicas || fds.size() != (endpoint < replicas ? 2u : 1u)) return false;
  std::uint32_t& newest = endpoint < replicas ? spec_.replicas[endpoint].incarnation : spec_.front_end_incarnation;
  if (started.incarnation() <= newest) return false;
  std::vector<Descriptor> copies;
  for (const Descriptor& fd : fds) copies.emplace_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  int& inbox = spec_.fabric_fds[1 + endpoint];
  drop(inbox);
  inbox = own(std::move(copies[0]));
  if (endpoint < replicas) add_stable(spec_.replicas[endpoint], started.incarnation(), std::move(copies[1]));
  newest = started.incarnation();
  return true;
}

void HandoverState::add_stable(ReplicaLaunch& launch, std::uint32_t incarnation, Descriptor stable) {
  std::deque<EarlierIncarnation> incarnations(launch.earlier.begin(), launch.earlier.end());
  incarnations.push_back({launch.incarnation, launch.stable_fd});
  const std::deque<EarlierIncarnation> before = incarnations;
  launch.stable_fd = own(std::move(stable));
  add_incarnation(
      incarnations, EarlierIncarnation{incarnation, launch.stable_fd},
      [](const EarlierIncarnation& ended) { return incarnation_counts(ended.stable_fd, ended.incarnation); },
      [this](const EarlierIncarnation& ended) {
        return traits_of(spec_.config.agreement).votes_are_history &&
               incarnation_is_needed(ended.stable_fd, Slot(spec_.snapshot_slot));
      });
  incarnations.pop_back();
  launch.earlier.assign(incarnations.begin(), incarnations.end());
  for (const EarlierIncarnation& each : before) {
    const auto same = [&](const EarlierIncarnation& kept) { return kept.stable_fd == each.stable_fd; };
    if (std::none_of(incarnations.begin(), incarnations.end(), same)) drop(each.stable_fd);
  }
}

void HandoverState::keep_snapshot(const supervision_v1::Snapshot& published, Descriptor snapshot) {
  if (spec_.snapshot_fd >= 0 && published.slot() <= spec_.snapshot_slot) return;
  if (spec_.snapshot_fd >= 0) release_in_background(take(spec_.snapshot_fd), helper_cores_);
  spec_.snapshot_fd = own(std::move(snapshot));
  spec_.snapshot_slot = published.slot();
}

std::uint64_t HandoverState::generation() const {
  std::uint64_t sum = spec_.snapshot_slot + spec_.front_end_incarnation;
  for (const ReplicaLaunch& launch : spec_.replicas) sum += launch.incarnation;
  return sum;
}

absl::Status HandoverState::send(SupervisionChannel& channel) const {
  const auto document = write_launch_spec(spec_);
  if (!document.ok()) return document.status();
  std::vector<int> fds;
  LaunchSpec spec = spec_;
  replace_descriptors(spec, [&](int each) {
    fds.push_back(each);
    return each;
  });
  const int documents[] = {document->get()};
  SupervisionMessage first, more;
  first.mutable_handover_document()->set_descriptors(static_cast<std::uint32_t>(fds.size()));
  more.mutable_handover_descriptors();
  if (auto status = channel.send(first, documents); !status.ok()) return status;
  std::span<const int> rest(fds);
  while (!rest.empty()) {
    const auto part = rest.first(std::min(rest.size(), kSupervisionDescriptorsMax));
    if (auto status = channel.send(more, part); !status.ok()) return status;
    rest = rest.subspan(part.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> HandoverStateReceiver::add(const SupervisionMessage& message, std::vector<Descriptor> fds) {
  if (expected_ == 0) {
    if (!message.has_handover_document() || fds.size() != 1) return refused();
    expected_ = message.handover_document().descriptors();
    auto spec = read_launch_spec(fds[0].get());
    if (!spec.ok()) return spec.status();
    instance_.spec_ = *std::move(spec);
    return false;
  }
  if (!message.has_handover_descriptors()) return refused();
  std::move(fds.begin(), fds.end(), std::back_inserter(received_));
  if (received_.size() < expected_) return false;
  return assemble();
}

absl::StatusOr<bool> HandoverStateReceiver::assemble() {
  std::size_t next = 0;
  bool enough = true;
  replace_descriptors(instance_.spec_, [&](int) {
    enough = enough && next < received_.size();
    return enough ? instance_.own(std::move(received_[next++])) : -1;
  });
  if (!enough || next != received_.size()) return refused();
  return true;
}

}  // namespace ingot
