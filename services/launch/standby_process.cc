#include "services/launch/standby_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace ingot::inline services_launch {

namespace {

struct Placed {
  int number;
  Descriptor fd;  // its present number is at least TakeDescriptors::floor
};

SupervisionChannel::Received wait_for_message(SupervisionChannel& channel) {
  while (true) {
    auto received = channel.receive();
    if (received.outcome != SupervisionChannel::Received::Outcome::kNothing) return received;
    pollfd readable{channel.fd(), POLLIN, 0};
    (void)!::poll(&readable, 1, -1);
  }
}

// Moves the descriptors to numbers from `floor` on, so that they occupy none of the numbers that are assigned later.
bool take(const supervision_v1::TakeDescriptors& numbers, std::vector<Descriptor> fds, std::vector<Placed>& taken) {
  for (std::size_t i = 0; i < fds.size(); ++i) {
    Descriptor moved(::fcntl(fds[i].get(), F_DUPFD_CLOEXEC, numbers.floor()));
    if (!moved.valid()) return false;
    taken.push_back({numbers.numbers(static_cast<int>(i)), std::move(moved)});
  }
  return true;
}

bool place(int fd, int number) { return ::dup3(fd, number, O_CLOEXEC) == number; }

std::optional<StandbyRole> take(const supervision_v1::TakeRole& role, const SupervisionChannel& channel,
                                const std::vector<Placed>& taken) {
  for (const Placed& each : taken) {
    if (!place(each.fd.get(), each.number)) return {};
  }
  if (!place(channel.fd(), role.control_fd())) return {};
  return StandbyRole{role.role(), role.launch_fd()};
}

// Overwrites the program's arguments, which lie one behind the other in memory. Bytes that are left over become zero.
void show(const StandbyRole& role, char* words, char* last) {
  const std::size_t room = static_cast<std::size_t>(last - words) + std::strlen(last) + 1;
  std::string text = role.word + '\0' + std::to_string(role.launch_fd);
  text.resize(room - 1);
  std::memcpy(words, text.data(), text.size());
}

}  // namespace

absl::Status send_role(SupervisionChannel& channel, const std::string& role, std::span<const int> inherited,
                       int launch_fd, int control_fd) {
  std::vector<int> fds(inherited.begin(), inherited.end());
  fds.push_back(launch_fd);
  const int floor = std::max(*std::max_element(fds.begin(), fds.end()), control_fd) + 1;
  SupervisionMessage message;
  for (std::size_t sent = 0; sent < fds.size(); sent += kSupervisionDescriptorsMax) {
    const auto part = std::span(fds).subspan(sent, std::min(kSupervisionDescriptorsMax, fds.size() - sent));
    supervision_v1::TakeDescriptors& numbers = *message.mutable_take_descriptors();
    numbers.set_floor(floor);
    numbers.clear_numbers();
    numbers.mutable_numbers()->Add(part.begin(), part.end());
    if (auto status = channel.send(message, part); !status.ok()) return status;
  }
  message.mutable_take_role()->set_role(role);
  message.mutable_take_role()->set_launch_fd(launch_fd);
  message.mutable_take_role()->set_control_fd(control_fd);
  return channel.send(message);
}

std::optional<StandbyRole> wait_for_role(Descriptor fd, char* words, char* last) {
  SupervisionChannel channel(std::move(fd));
  std::vector<Placed> taken;
  bool moved = false;  // whether the channel, too, has a number from `floor` on
  while (true) {
    auto received = wait_for_message(channel);  // for other outcomes than kMessage the message has no kind
    if (received.message.has_take_role() && moved) {
      auto role = take(received.message.take_role(), channel, taken);
      if (role) show(*role, words, last);
      return role;
    }
    if (!received.message.has_take_descriptors()) return {};
    const supervision_v1::TakeDescriptors& numbers = received.message.take_descriptors();
    if (!take(numbers, std::move(received.fds), taken)) return {};
    if (std::exchange(moved, true)) continue;
    channel = SupervisionChannel(Descriptor(::fcntl(channel.fd(), F_DUPFD_CLOEXEC, numbers.floor())));
    if (!channel.open()) return {};
  }
}

}  // namespace ingot::services_launch
