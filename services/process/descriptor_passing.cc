#include "services/process/descriptor_passing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace ingot {

namespace {

// Room for what the kernel says beside the text: one header with as many descriptors as may come.
struct alignas(cmsghdr) DescriptorRoom {
  char bytes[CMSG_SPACE(kControlDescriptorsMax * sizeof(int))] = {};
};

absl::Status send_failure(int error) {
  switch (error) {
    case EAGAIN:
    case EINTR:
    case ENOBUFS:
    case ETOOMANYREFS:  // too many descriptors of this user are on their way
      return absl::UnavailableError("the control channel is full");
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
      return absl::FailedPreconditionError("nobody is at the other end of the control channel");
    default:
      return absl::InternalError(absl::StrCat("cannot send over the control channel: ", std::strerror(error)));
  }
}

void take_descriptors(msghdr& header, std::vector<Descriptor>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

}  // namespace

absl::Status send_message(int fd, std::string_view text, std::span<const int> fds) {
  INGOT_CHECK(!text.empty() && text.size() <= kControlMessageBytesMax, "a datagram of no bytes would look like the end");
  INGOT_CHECK(fds.size() <= kControlDescriptorsMax, "more descriptors need more datagrams");
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  DescriptorRoom room;
  if (!fds.empty()) {
    header.msg_control = room.bytes;
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  if (::sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return absl::OkStatus();
  return send_failure(errno);
}

ReceivedMessage receive_message(int fd) {
  char text[kControlMessageBytesMax];
  iovec part{text, sizeof text};
  DescriptorRoom room;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = room.bytes;
  header.msg_controllen = sizeof room.bytes;
  ssize_t size = ::recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  // An end that closes with something unread is told of once, before what it had sent itself.
  if (size < 0 && errno == ECONNRESET) size = ::recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  ReceivedMessage message;
  if (size < 0) {
    const bool nothing = errno == EAGAIN || errno == EINTR;
    message.outcome = nothing ? ReceivedMessage::Outcome::kNothing : ReceivedMessage::Outcome::kEnd;
    return message;
  }
  take_descriptors(header, message.fds);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    message.fds.clear();
    message.outcome = ReceivedMessage::Outcome::kDamaged;
  } else if (size == 0) {
    message.outcome = ReceivedMessage::Outcome::kEnd;
  } else {
    message.text.assign(text, static_cast<std::size_t>(size));
    message.outcome = ReceivedMessage::Outcome::kMessage;
  }
  return message;
}

}  // namespace ingot
