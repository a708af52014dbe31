// The publisher's side of the view socket: gives the view's memory to those who may read it, and tells those who wait
// that keys have changed.
//
// Nothing is kept about readers: a connection has its place as long as it is open, or descriptors are in it that its
// client has not received. The kernel says who connects. Descriptors that a client sends are refused
// (services/sockets/passed_descriptors.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "replication/pages/view_page.h"
#include "replication/view/tickets/protocol.h"
#include "services/access/view_rights.h"
#include "services/view/tickets/limits.h"
#include "services/view/tickets/wait_list.h"
#include "transport/host/descriptor.h"
#include "transport/host/event_loop.h"
#include "transport/pollable.h"

namespace ingot::inline services_view_tickets {

// Used by its loop's thread only. The loop and the page outlive it.
class TicketServer final : public Pollable {
 public:
  TicketServer(EventLoop& loop, Descriptor listener, ViewRights rights, ViewPage& page);
  ~TicketServer() override;
  TicketServer(const TicketServer&) = delete;
  TicketServer& operator=(const TicketServer&) = delete;

  // From now on clients get these, opened for reading; those that wait for a view get them, too. Kept by the caller
  // until the next call.
  void give(int board, int generation);

  // There is no view for now: who waits for one, or comes until the next give(), is told why.
  void refuse(absl::Status why);

  // Of the current generation: as in WaitList.
  void changed(std::string_view key, std::int64_t revision) { waits_.changed(key, revision); }
  void missed(std::int64_t revision) { waits_.missed(revision); }
  void published(std::int64_t revision) { waits_.published(revision); }

  // Clients so far that may read the view.
  std::uint64_t admitted() const { return next_id_ - 1; }

  // Whether a connection asks for the view's age.
  bool age_wanted() const { return ages_ > 0; }

  // Connections that wait for a change.
  std::size_t waiting() const { return waits_.size(); }

  // Pollable.
  int poll(std::uint64_t now_ns) override;
  bool readable() override { return false; }
  std::uint64_t deadline_ns() const override;

 private:
  struct Connection {
    Descriptor fd;
    uid_t uid = 0;
    bool guarded = false;  // its client may send descriptors: read it with care
    bool given = false;
    bool age = false;
    bool ended = false;  // shut down, and kept for what its client has not received
    std::string input;   // a question that has not come as a whole
  };
  using Id = WaitList::Id;

  void accept_some();
  bool accept_one();
  void admit(Descriptor fd);
  absl::Status refusal(uid_t uid) const;
  void answer(int fd, const absl::Status& status);
  bool give_to(Connection& connection);
  void read(Id id);
  bool take_question(Id id, Connection& connection);
  bool send_byte(const Connection& connection);
  void end(Id id);
  void look_at_ended();
  void close(Id id);
  static void close(Descriptor fd, bool guarded);

  EventLoop& loop_;
  Descriptor listener_;
  const ViewRights rights_;
  const uid_t overflow_ = overflow_user();
  ViewPage& page_;
  int board_ = -1, generation_ = -1;  // -1: there is no view yet
  absl::Status why_none_;             // not OK: so whoever waits for one is told
  std::map<Id, Connection> connections_;
  std::map<uid_t, std::size_t> by_user_;
  Id next_id_ = 1;
  WaitList waits_;
  std::size_t ages_ = 0;
  std::size_t ended_ = 0;              // connections
  std::uint64_t look_at_ended_ns_ = 0;  // not before
  std::uint64_t now_ns_ = 0;
  std::uint64_t sweep_ns_ = 0;         // not before
  std::uint64_t accept_again_ns_ = 0;  // 0: the listener is watched
};

}  // namespace ingot::services_view_tickets
