#include "services/sockets/listening_sockets.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_sockets {

namespace {

constexpr int kListening = 10;                      // TCP_LISTEN, the state of any socket that listens
constexpr std::size_t kAnswerBytesMax = 32 * 1024;  // the kernel sends no larger part of its answer

struct Question {
  nlmsghdr header{};
  unix_diag_req request{};
};

Question question() {
  Question question;
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.request.sdiag_family = AF_UNIX;
  question.request.udiag_states = 1U << kListening;
  question.request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID;
  return question;
}

absl::Status failure(int error) {
  return absl::UnavailableError(
      absl::StrCat("the kernel does not list its Unix sockets by sock_diag: ", std::strerror(error),
                   "; it must be Linux 5.3 or newer with unix_diag (CONFIG_UNIX_DIAG), and netlink must be allowed"));
}

template <typename T>
std::optional<T> head_of(std::string_view bytes) {
  T head{};
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

// Takes a part of `length` bytes, which is padded to 4 bytes, off the front. Empty: it is not all there.
std::string_view take(std::string_view& bytes, std::size_t length) {
  if (length > bytes.size()) return {};
  const std::string_view part = bytes.substr(0, length);
  bytes.remove_prefix(std::min<std::size_t>(bytes.size(), NLMSG_ALIGN(length)));
  return part;
}

// Nothing if the message shows no abstract name, or no user.
std::optional<ListeningSocket> socket_in(std::string_view message) {
  message.remove_prefix(std::min<std::size_t>(message.size(), NLMSG_HDRLEN));
  const auto socket = head_of<unix_diag_msg>(message);
  if (!socket || socket->udiag_type != SOCK_SEQPACKET || socket->udiag_state != kListening) return std::nullopt;
  message.remove_prefix(sizeof *socket);
  std::optional<std::uint32_t> user;
  std::string_view name;
  while (const auto attribute = head_of<rtattr>(message)) {
    std::string_view value = take(message, attribute->rta_len);
    if (value.size() < RTA_LENGTH(0)) break;
    value.remove_prefix(RTA_LENGTH(0));
    if (attribute->rta_type == UNIX_DIAG_UID) user = head_of<std::uint32_t>(value);
    if (attribute->rta_type == UNIX_DIAG_NAME) name = value;
  }
  if (!user || name.empty() || name.front() != '\0') return std::nullopt;
  return ListeningSocket{std::string(name.substr(1)), socket->udiag_ino, *user};
}

// True: this was the answer's last part.
absl::StatusOr<bool> read_part(std::string_view part, absl::FunctionRef<void(ListeningSocket)> visit) {
  while (const auto header = head_of<nlmsghdr>(part)) {
    const std::string_view message = take(part, header->nlmsg_len);
    if (message.size() < NLMSG_HDRLEN) return failure(EBADMSG);
    if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) {
      const int error = head_of<int>(message.substr(NLMSG_HDRLEN)).value_or(0);  // negative, or 0
      if (error != 0) return failure(-error);
      return true;
    }
    if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY) continue;
    if (auto socket = socket_in(message)) visit(*std::move(socket));
  }
  return false;
}

bool holds(const std::filesystem::path& process, const std::string& link) {
  std::error_code error;
  std::filesystem::directory_iterator fds(process / "fd", error);
  for (; !error && fds != end(fds); fds.increment(error)) {  // the process may end meanwhile
    std::error_code gone;
    if (std::filesystem::read_symlink(fds->path(), gone) == link) return true;
  }
  return false;
}

}  // namespace

// The kernel makes the first part of its answer before send(2) returns, and each next part when one is received. So
// recv(2) never waits for long, and no part is lost.
absl::Status visit_listening_sockets(absl::FunctionRef<void(ListeningSocket)> visit) {
  const Descriptor kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const Question asked = question();
  if (!kernel.valid() || ::send(kernel.get(), &asked, sizeof asked, 0) < 0) return failure(errno);
  std::vector<char> bytes(kAnswerBytesMax);
  while (true) {
    const ssize_t size = ::recv(kernel.get(), bytes.data(), bytes.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return failure(size < 0 ? errno : EBADMSG);
    const auto last = read_part({bytes.data(), static_cast<std::size_t>(size)}, visit);
    if (!last.ok()) return last.status();
    if (*last) return absl::OkStatus();
  }
}

std::vector<pid_t> holders_of_socket(std::uint32_t inode) {
  const std::string link = absl::StrCat("socket:[", inode, "]");
  std::vector<pid_t> holders;
  std::error_code error;
  std::filesystem::directory_iterator processes("/proc", error);
  for (; !error && processes != end(processes); processes.increment(error)) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(processes->path().filename().string(), &pid)) continue;
    if (holds(processes->path(), link)) holders.push_back(pid);
  }
  return holders;
}

}  // namespace ingot::services_sockets
