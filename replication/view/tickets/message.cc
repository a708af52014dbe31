#include "replication/view/tickets/message.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "replication/view/tickets/limits.h"

namespace ingot::inline replication_view_tickets {

namespace {

constexpr std::size_t kTicketDescriptors = 2;

struct Control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(kTicketDescriptors * sizeof(int))] = {};
};

std::vector<Descriptor> take_descriptors(msghdr& message) {
  std::vector<Descriptor> fds;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(0) + at + sizeof(int) <= head->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + at, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace

bool send_answer(int connection, const absl::Status& status, std::span<const int> fds) {
  std::string text(status.message());
  text.resize(std::min(text.size(), kAnswerTextBytesMax));
  TicketAnswer head;
  head.code = static_cast<std::uint32_t>(status.code());
  head.text_bytes = static_cast<std::uint32_t>(text.size());
  iovec parts[] = {{&head, sizeof head}, {text.data(), text.size()}};
  Control control;
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  if (!fds.empty()) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  return ::sendmsg(connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof head + text.size());
}

absl::StatusOr<ReceivedAnswer> receive_answer(int connection) {
  const auto foreign = absl::InvalidArgumentError("what answers there is no view socket");
  TicketAnswer head;
  char text[kAnswerTextBytesMax];
  iovec parts[] = {{&head, sizeof head}, {text, sizeof text}};
  Control control;
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t got = ::recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got <= 0) return absl::UnavailableError("the view's publisher has ended the connection");
  ReceivedAnswer answer;
  answer.fds = take_descriptors(message);
  const auto bytes = static_cast<std::size_t>(got);
  if (bytes < sizeof head || head.magic != kTicketMagic) return foreign;
  if (head.text_bytes > kAnswerTextBytesMax || bytes < sizeof head + head.text_bytes) return foreign;
  if (head.code != 0) {
    answer.status = absl::Status(static_cast<absl::StatusCode>(head.code), std::string(text, head.text_bytes));
    return answer;
  }
  if (answer.fds.size() == kTicketDescriptors) return answer;
  if ((message.msg_flags & MSG_CTRUNC) != 0) return absl::ResourceExhaustedError("no descriptor for the view's memory");
  return foreign;
}

}  // namespace ingot::replication_view_tickets
