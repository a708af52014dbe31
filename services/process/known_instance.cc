#include "services/process/known_instance.h"

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

int KnownInstance::own(Descriptor fd) {
  const int number = fd.get();
  owned_[number] = std::move(fd);
  return number;
}

absl::StatusOr<KnownInstance> KnownInstance::copy(const LaunchSpec& spec) {
  KnownInstance instance;
  instance.spec_ = spec;
  instance.spec_.control_fd = -1;
  int error = 0;
  replace_descriptors(instance.spec_, [&](int fd) {
    Descriptor duplicate(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!duplicate.valid()) error = errno;
    return duplicate.valid() ? instance.own(std::move(duplicate)) : -1;
  });
  instance.helper_cores_ = cores_beside_loops(spec.replicas);
  if (error == 0) return instance;
  const std::string text = absl::StrCat("cannot keep the instance's descriptors: ", std::strerror(error));
  return error == EBADF ? absl::InvalidArgumentError(text) : absl::ResourceExhaustedError(text);
}

bool KnownInstance::begin_life(const ControlWord& life) {
  const auto replicas = static_cast<int>(spec_.replicas.size());
  if (life.endpoint > replicas || life.fds.size() != (life.endpoint < replicas ? 2u : 1u)) return false;
  std::uint32_t& newest =
      life.endpoint < replicas ? spec_.replicas[life.endpoint].incarnation : spec_.front_end_incarnation;
  if (life.incarnation <= newest) return false;
  std::vector<Descriptor> copies;
  for (const Descriptor& fd : life.fds) copies.emplace_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  std::vector<int> fabric = parse_fabric(spec_.fabric);
  int& inbox = fabric[1 + life.endpoint];
  drop(inbox);
  inbox = own(std::move(copies[0]));
  spec_.fabric = absl::StrJoin(fabric, ",");
  if (life.endpoint < replicas) add_stable(spec_.replicas[life.endpoint], life.incarnation, std::move(copies[1]));
  newest = life.incarnation;
  return true;
}

void KnownInstance::add_stable(ReplicaLaunch& launch, std::uint32_t incarnation, Descriptor stable) {
  std::deque<EarlierLife> lives(launch.earlier.begin(), launch.earlier.end());
  lives.push_back({launch.incarnation, launch.stable_fd});
  const std::deque<EarlierLife> before = lives;
  launch.stable_fd = own(std::move(stable));
  add_life(
      lives, EarlierLife{incarnation, launch.stable_fd},
      [](const EarlierLife& ended) { return life_counts(ended.stable_fd, ended.incarnation); },
      [this](const EarlierLife& ended) {
        return votes_are_history(spec_.config.agreement) && life_is_needed(ended.stable_fd, Slot(spec_.snapshot_slot));
      });
  lives.pop_back();
  launch.earlier.assign(lives.begin(), lives.end());
  for (const EarlierLife& each : before) {
    const auto same = [&](const EarlierLife& kept) { return kept.stable_fd == each.stable_fd; };
    if (std::none_of(lives.begin(), lives.end(), same)) drop(each.stable_fd);
  }
}

void KnownInstance::keep_snapshot(ControlWord snapshot) {
  if (snapshot.fds.size() != 1 || (spec_.snapshot_fd >= 0 && snapshot.slot <= spec_.snapshot_slot)) return;
  if (spec_.snapshot_fd >= 0) release_beside(take(spec_.snapshot_fd), helper_cores_);
  spec_.snapshot_fd = own(std::move(snapshot.fds[0]));
  spec_.snapshot_slot = snapshot.slot;
}

std::uint64_t KnownInstance::news() const {
  std::uint64_t sum = spec_.snapshot_slot + spec_.front_end_incarnation;
  for (const ReplicaLaunch& launch : spec_.replicas) sum += launch.incarnation;
  return sum;
}

absl::Status KnownInstance::send(int fd) const {
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

absl::StatusOr<bool> KnownInstanceReceiver::add(ReceivedMessage message) {
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
