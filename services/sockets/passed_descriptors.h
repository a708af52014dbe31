// Descriptors that a stranger passes over a Unix socket (SCM_RIGHTS), where none are wanted.
//
// The receiver needs not take them: it drops them when it reads past them without room for them, or closes the socket.
// If they were the last ones, it closes what they stand for, and waits for that. A TCP socket with SO_LINGER and data
// that its peer does not read so stops the receiver's thread for as long as the sender has chosen. Therefore:
//
//   Linux 6.16 and later   refuse_passed_descriptors() on a socket before it listens or connects: the sender gets
//                          EPERM. Accepted sockets inherit it.
//   earlier                connections for which watch_for_descriptors() says so are read by receive_bytes() and
//                          closed by close_unread() alone. Neither takes a descriptor in: the close of a file in a
//                          file system that the sender runs (FUSE) waits for the sender, too.
//
// What remains possible on earlier kernels: connections that are dropped with descriptors in them cost the process two
// threads that end at once, and keep their own descriptors until then. The second thread does not linger, but would
// wait for devices that are slow to close, such as a serial line, which takes rights to open; it holds nothing of the
// process then but itself. While the process may have no further thread, the connections stay open. The last process of
// an instance to end closes the front end's Unix socket, and waits for what the connections that still wait there have
// passed.
//
// All functions are thread-safe, as far as each connection is used by one thread at a time.
#pragma once

#include <sys/types.h>

#include <span>

#include "transport/host/descriptor.h"

namespace ingot::inline services_sockets {

// What is sent to this Unix socket from now on brings no descriptors. Returns false if the kernel cannot, or there is no
// socket. errno stays, so that it says why.
bool refuse_passed_descriptors(int socket);

// They are wanted after all: the peer's credentials have been checked.
void allow_passed_descriptors(int socket);

// For a Unix connection that was accepted, before it is first read. True: its peer may send descriptors, or has, so
// receive_bytes() and close_unread() are needed. Bytes out of band then come in line, since the kernel would drop what
// they bring.
bool watch_for_descriptors(int connection);

// recv(2) that never waits. Bytes that come with descriptors are not received: -1 with EPROTO, each time. The bytes are
// copied twice.
ssize_t receive_bytes(int connection, std::span<char> buffer);

// Closes a Unix socket, also a listening one, and drops what was sent there and not received: at once if there are no
// descriptors in it, else soon, by a thread. Never waits for either. REQUIRES, unless it listens: no other process goes
// on with the socket, whose receiving is shut down.
void close_unread(Descriptor socket);

}  // namespace ingot::services_sockets
