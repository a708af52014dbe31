// The publisher of a view: makes generations from the replicas, keeps the current one up to date, and names it on a
// board of its own.
//
// A board belongs to one publisher, and its lock to this process's thread. When the publisher ends, however it ends,
// its readers see that, keep what they have mapped, and connect to the next one by the same path. The next one's first
// root is not below any that this one has published: it asks for the store's revision first, linearizably.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "replication/pages/view_page.h"
#include "replication/view/board/board.h"
#include "services/view/publisher/made_generation.h"
#include "services/view/tickets/server.h"
#include "transport/host/descriptor.h"
#include "transport/host/segment.h"
#include "transport/pollable.h"

namespace ingot::inline services_view_publisher {

struct PublisherOptions {
  std::uint64_t identity = 0;     // of the state: its cluster id
  std::uint64_t incarnation = 0;  // of this publisher
  std::uint64_t bytes_max = 0;    // of a generation; 0: as many as its keys need
  bool waits_for_reader = false;  // nothing is asked and made until a client has come that may read the view
};

// Used by one thread, from create() on, to be polled behind the client's answers. All references outlive it.
class Publisher final : public Pollable, private GenerationObserver {
 public:
  // Errors: RESOURCE_EXHAUSTED, INTERNAL.
  static absl::StatusOr<std::unique_ptr<Publisher>> create(const PublisherOptions& options, ReplicaClient& client,
                                                           const InstanceView& view, ViewPage& page,
                                                           TicketServer& tickets);

  // The instance is stopped in order: readers are told that nothing follows.
  void close() { keeper_.set_state(BoardState::kClosed); }

  // Pollable.
  int poll(std::uint64_t now_ns) override;
  bool readable() override { return false; }
  std::uint64_t deadline_ns() const override;

 private:
  struct Board {
    Descriptor fd, readers_fd;
    Segment memory;
  };
  Publisher(const PublisherOptions& options, ReplicaClient& client, const InstanceView& view, ViewPage& page,
            TicketServer& tickets, Board board, BoardKeeper keeper, BoardPublisher publisher);

  void changed(std::uint64_t number, const ViewChange& change) override;
  void published(std::uint64_t number, ViewRevision revision) override;
  void to_replace(std::uint64_t number, WhyReplaced why, bool gives_up) override;

  bool waits_for_reader() const { return options_.waits_for_reader && tickets_.admitted() == 0; }
  // The next one has overtaken it, or is about to: else it would run ahead again.
  bool current_stands() const { return next_ && next_->ready(); }
  void ask_revision();
  void make();
  void make_again_later();
  std::uint64_t wanted_bytes(const SourceSize& size, WhyReplaced why) const;
  void drop_next();
  void not_made(const absl::Status& status, const MadeGeneration::Wanted& wanted);
  void too_few(std::uint64_t bytes);
  void name_next();
  void show();
  void look_for_barrier();
  SourceSize size() const;

  const PublisherOptions options_;
  const std::uint64_t bytes_max_;
  ReplicaClient& client_;
  const InstanceView& view_;
  ViewPage& page_;
  TicketServer& tickets_;
  const Board board_;
  BoardKeeper keeper_;
  BoardPublisher publisher_;
  std::uint64_t now_ms_ = 0;

  // The store's revision at some time after this publisher's start: no root below it is named.
  std::optional<ViewRevision> begin_revision_;
  bool asking_revision_ = false;
  std::uint64_t ask_again_ms_ = 0;

  std::unique_ptr<MadeGeneration> current_;  // named on the board, once there is one
  std::unique_ptr<MadeGeneration> next_;     // being made
  std::vector<std::unique_ptr<MadeGeneration>> gone_;  // being given back
  std::optional<WhyReplaced> wanted_;        // another generation is to be made, for that
  std::uint64_t full_bytes_ = 0;             // so many were too few
  std::uint64_t make_ms_ = 0;                // not before
  std::uint64_t make_again_ms_ = 0;          // how long the next failure waits
  std::string logged_;                       // why none could be made, as last logged

  bool barrier_under_way_ = false;
  std::uint64_t barrier_ms_ = 0;  // of the next one
  struct Barrier {
    std::int64_t sent_ns;
    ViewRevision revision;
  };
  std::optional<Barrier> barrier_;  // answered, and not reached yet
  bool age_known_ = false;
};

}  // namespace ingot::services_view_publisher
