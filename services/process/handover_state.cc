#include "services/process/handover_state.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/planning/helper_cores.h"
#include "replication/agreement/registry.h"
#include "replication/stable/incarnation_segments.h"
#include "services/process/instance_memory.h"

namespace ingot {

namespace {

// Fabric::describe() as numbers and back: control, inboxes, bells.
std::vector<int> parse_fabric(const std::string& description) {
  std::vector<int> fds;
  for (const absl::string_view field : absl::StrSplit(description, ',')) {
    int fd = -1;
    fds.push_back(absl::SimpleAtoi(field, &fd) ? fd : -1);
  }
  return fds;
}

// Replaces every descriptor of the document by what `replace` says, in a fixed order.
template <typename Replace>
void replace_descriptors(LaunchSpec& spec, Replace&& replace) {
  spec.for_each_descriptor([&](int& fd) { fd = replace(fd); });
  std::vector<int> fabric = parse_fabric(spec.fabric);
  for (int& fd : fabric) fd = replace(fd);
  spec.fabric = absl::StrJoin(fabric, ",");
}

absl::Status nonsense() {
  return absl::InvalidArgumentError("a process of the instance describes it in a way that is not understood");
}

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

bool HandoverState::begin_incarnation(const ControlWord& started) {
  const auto replicas = static_cast<int>(spec_.replicas.size());
  if (started.endpoint > replicas || started.fds.size() != (started.endpoint < replicas ? 2u : 1u)) return false;
  std::uint32_t& newest =
      started.endpoint < replicas ? spec_.replicas[started.endpoint].incarnation : spec_.front_end_incarnation;
  if (started.incarnation <= newest) return false;
  std::vector<Descriptor> copies;
  for (const Descriptor& fd : started.fds) copies.emplace_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  std::vector<int> fabric = parse_fabric(spec_.fabric);
  int& inbox = fabric[1 + started.endpoint];
  drop(inbox);
  inbox = own(std::move(copies[0]));
  spec_.fabric = absl::StrJoin(fabric, ",");
  if (started.endpoint < replicas) add_stable(spec_.replicas[started.endpoint], started.incarnation, std::move(copies[1]));
  newest = started.incarnation;
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

void HandoverState::keep_snapshot(ControlWord snapshot) {
  if (snapshot.fds.size() != 1 || (spec_.snapshot_fd >= 0 && snapshot.slot <= spec_.snapshot_slot)) return;
  if (spec_.snapshot_fd >= 0) release_in_background(take(spec_.snapshot_fd), helper_cores_);
  spec_.snapshot_fd = own(std::move(snapshot.fds[0]));
  spec_.snapshot_slot = snapshot.slot;
}

std::uint64_t HandoverState::generation() const {
  std::uint64_t sum = spec_.snapshot_slot + spec_.front_end_incarnation;
  for (const ReplicaLaunch& launch : spec_.replicas) sum += launch.incarnation;
  return sum;
}

absl::Status HandoverState::send(int fd) const {
  const auto document = write_launch_spec(spec_);
  if (!document.ok()) return document.status();
  std::vector<int> fds;
  LaunchSpec spec = spec_;
  replace_descriptors(spec, [&](int each) {
    fds.push_back(each);
    return each;
  });
  const int documents[] = {document->get()};
  if (auto status = send_message(fd, absl::StrCat("described ", fds.size()), documents); !status.ok()) return status;
  std::span<const int> rest(fds);
  while (!rest.empty()) {
    const auto part = rest.first(std::min(rest.size(), kControlDescriptorsMax));
    if (auto status = send_message(fd, "descriptors", part); !status.ok()) return status;
    rest = rest.subspan(part.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> HandoverStateReceiver::add(ReceivedMessage message) {
  if (expected_ == 0) {
    const std::vector<std::string> words = absl::StrSplit(message.text, ' ');
    if (words.size() != 2 || words[0] != "described" || message.fds.size() != 1 ||
        !absl::SimpleAtoi(words[1], &expected_)) {
      return nonsense();
    }
    auto spec = read_launch_spec(message.fds[0].get());
    if (!spec.ok()) return spec.status();
    instance_.spec_ = *std::move(spec);
    return false;
  }
  if (message.text != "descriptors") return nonsense();
  std::move(message.fds.begin(), message.fds.end(), std::back_inserter(received_));
  if (received_.size() < expected_) return false;
  std::size_t next = 0;
  bool enough = true;
  replace_descriptors(instance_.spec_, [&](int) {
    enough = enough && next < received_.size();
    return enough ? instance_.own(std::move(received_[next++])) : -1;
  });
  if (!enough || next != received_.size()) return nonsense();
  return true;
}

}  // namespace ingot
