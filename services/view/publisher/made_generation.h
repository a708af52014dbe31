// One generation that a publisher makes or keeps up to date: its memory, writer, maker and source.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "replication/client/replica_client.h"
#include "replication/view/board/board.h"
#include "replication/view/generation/writer.h"
#include "replication/view/making/maker.h"
#include "services/view/publisher/replica_source.h"
#include "transport/host/descriptor.h"
#include "transport/host/segment.h"

namespace ingot::inline services_view_publisher {

class GenerationObserver {
 public:
  virtual ~GenerationObserver() = default;
  // A change goes into the generation.
  virtual void changed(std::uint64_t number, const ViewChange& change) = 0;
  // A root was published at that revision.
  virtual void published(std::uint64_t number, ViewRevision revision) = 0;
  // Another generation should take its place (`gives_up` false: this one goes on meanwhile).
  virtual void to_replace(std::uint64_t number, WhyReplaced why, bool gives_up) = 0;
};

// Used by the publisher's thread only. Calls of the observer come from poll() and start(), and must not end this
// object.
class MadeGeneration final : private SourceAnswers {
 public:
  struct Wanted {
    std::uint64_t identity = 0;  // of the state
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_max = 0;      // of the one that takes its place
    std::uint64_t expected_keys = 0;
    WhyReplaced why = WhyReplaced::kFirst;
  };
  // Errors: RESOURCE_EXHAUSTED (no memory or descriptor), INVALID_ARGUMENT (as GenerationWriter::create), INTERNAL. All
  // references outlive the object.
  static absl::StatusOr<std::unique_ptr<MadeGeneration>> create(const Wanted& wanted, ReplicaClient& client,
                                                                std::function<SourceSize()> size,
                                                                GenerationObserver& observer);

  void start(std::uint64_t now_ms);
  int poll(std::uint64_t now_ms);
  std::uint64_t deadline_ms() const;

  // As ReplicaSource.
  void set_standing(bool standing) { source_.set_standing(standing); }

  const Wanted& wanted() const { return wanted_; }
  const GenerationWriter& writer() const { return *writer_; }
  bool ready() const { return ready_; }      // its first root was published
  bool given_up() const { return given_up_; }  // it gets no further
  int readers_fd() const { return readers_fd_.get(); }

  // It is no longer the current one: tells its readers, and gives its memory back in slices. True: all is given back.
  void mark_gone();
  bool punch();

 private:
  MadeGeneration(const Wanted& wanted, Descriptor fd, Descriptor readers_fd, Segment memory,
                 std::unique_ptr<GenerationWriter> writer, ReplicaClient& client, std::function<SourceSize()> size,
                 GenerationObserver& observer);

  void on_size(const SourceSize&) override {}
  void on_page(const SourcePage& page) override;
  void on_changes(const SourceChanges& changes) override;
  void on_compacted(ViewRevision compacted) override;
  void on_page_failed() override;
  void on_changes_failed() override;
  void execute(const MakerEffects& effects);

  const Wanted wanted_;
  const Descriptor fd_, readers_fd_;
  const Segment memory_;
  const std::unique_ptr<GenerationWriter> writer_;
  GenerationObserver& observer_;
  GenerationMaker maker_;
  ReplicaSource source_;
  std::uint64_t now_ms_ = 0;
  std::uint64_t tick_ms_ = 0;  // of the next tick, if one is wanted
  bool ready_ = false;
  bool given_up_ = false;
  std::uint64_t punched_ = 0;
};

}  // namespace ingot::services_view_publisher
