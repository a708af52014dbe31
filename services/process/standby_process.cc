#include "services/process/standby_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "services/process/descriptor_passing.h"

namespace ingot {

namespace {

struct Placed {
  int number;
  Descriptor fd;  // not below the floor
};

ReceivedMessage wait_for_message(int channel) {
  while (true) {
    ReceivedMessage message = receive_message(channel);
    if (message.outcome != ReceivedMessage::Outcome::kNothing) return message;
    pollfd ready{channel, POLLIN, 0};
    (void)!::poll(&ready, 1, -1);
  }
}

// Out of the way of all numbers that will be asked for.
bool take(const std::vector<std::string>& words, std::vector<Descriptor> fds, std::vector<Placed>& taken) {
  int floor = 0;
  if (words.size() != fds.size() + 2 || !absl::SimpleAtoi(words[1], &floor)) return false;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    int number = 0;
    if (!absl::SimpleAtoi(words[i + 2], &number) || number <= STDERR_FILENO || number >= floor) return false;
    Descriptor moved(::fcntl(fds[i].get(), F_DUPFD_CLOEXEC, floor));
    if (!moved.valid()) return false;
    taken.push_back({number, std::move(moved)});
  }
  return true;
}

bool place(int fd, int number) { return ::dup3(fd, number, O_CLOEXEC) == number; }

std::optional<StandbyRole> become(const std::vector<std::string>& words, int channel, std::vector<Placed> taken) {
  int launch = -1, control = -1;
  if (words.size() != 4 || !absl::SimpleAtoi(words[2], &launch) || !absl::SimpleAtoi(words[3], &control)) return {};
  for (const Placed& each : taken) {
    if (!place(each.fd.get(), each.number)) return {};
  }
  if (!place(channel, control)) return {};
  return StandbyRole{words[1], launch};
}

// The arguments lie one behind the other; what they no longer need is zeros.
void show(const StandbyRole& role, char* words, char* last) {
  const std::size_t room = static_cast<std::size_t>(last - words) + std::strlen(last) + 1;
  std::string text = role.word + '\0' + std::to_string(role.launch_fd);
  text.resize(room - 1);
  std::memcpy(words, text.data(), text.size());
}

}  // namespace

absl::Status send_role(int channel, const std::string& role, std::span<const int> inherited, int launch_fd, int control_fd) {
  std::vector<int> fds(inherited.begin(), inherited.end());
  fds.push_back(launch_fd);
  const int floor = std::max(*std::max_element(fds.begin(), fds.end()), control_fd) + 1;
  for (std::size_t sent = 0; sent < fds.size(); sent += kControlDescriptorsMax) {
    const auto part = std::span(fds).subspan(sent, std::min(kControlDescriptorsMax, fds.size() - sent));
    if (auto status = send_message(channel, absl::StrCat("take ", floor, " ", absl::StrJoin(part, " ")), part); !status.ok()) {
      return status;
    }
  }
  return send_message(channel, absl::StrCat("become ", role, " ", launch_fd, " ", control_fd));
}

std::optional<StandbyRole> wait_for_role(int channel, char* words, char* last) {
  std::vector<Placed> taken;
  Descriptor moved;  // the channel, once numbers are known
  while (true) {
    ReceivedMessage message = wait_for_message(moved.valid() ? moved.get() : channel);
    if (message.outcome != ReceivedMessage::Outcome::kMessage) return {};
    const std::vector<std::string> said = absl::StrSplit(message.text, ' ');
    if (said[0] == "become" && moved.valid()) {
      auto role = become(said, moved.get(), std::move(taken));
      if (role) show(*role, words, last);
      return role;
    }
    if (said[0] != "take" || !take(said, std::move(message.fds), taken)) return {};
    if (moved.valid()) continue;
    int floor = 0;
    (void)!absl::SimpleAtoi(said[1], &floor);
    moved = Descriptor(::fcntl(channel, F_DUPFD_CLOEXEC, floor));
    if (!moved.valid()) return {};
    ::close(channel);
  }
}

}  // namespace ingot
