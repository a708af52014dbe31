// Makes a generation from a source, and keeps it up to date: a pure state machine. Answers and ticks go in; it writes
// into its generation, and what it wants of the world comes out.
//
// Keys are listed in pages, each at its own revision, so no compaction ends the list. At the same time changes are
// asked for, from the first page's revision on. A change is applied if it is newer than the page that covers its key;
// one whose page is still to come waits, the newest of each key. When all pages are there, and all changes up to a
// whole revision that is not below any page's, the first root is published: the generation is ready to be named. From
// then on there is a root after each answer that ends with a whole revision.
//
// A page that is older than the changes that were forgotten is asked for again. A compaction that overtakes the changes
// before the first root makes older pages count as missing, and these alone are asked for again; after it, the
// generation is given up, and stays at its last root.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "replication/view/board/board.h"
#include "replication/view/generation/writer.h"
#include "replication/view/making/limits.h"
#include "replication/view/making/source.h"

namespace ingot::inline replication_view_making {

// Whole pages, within `bytes_min` and `bytes_max`, for what a source has, and for what lives in a generation.
std::uint64_t bytes_for_source(const SourceSize& size, std::uint64_t bytes_max);
std::uint64_t bytes_for_live(std::uint64_t live_bytes, std::uint64_t bytes_max);

// What is to be done, in this order.
struct MakerEffects {
  std::optional<AskPage> ask_page;
  std::optional<AskChanges> ask_changes;
  // A root at this revision was published: the board may tell it, if the generation is the current one.
  std::optional<ViewRevision> published;
  // It was the first one: the generation can be named, once this revision is not below that of the generation before
  // it, which therefore gets no more changes from here on.
  bool ready = false;
  // A generation of another size should take the place of this one, which goes on meanwhile. Told once.
  std::optional<WhyReplaced> replace;
  // This one gets no further: another one must take its place. Nothing follows.
  std::optional<WhyReplaced> give_up;
};

// Not thread-safe. The writer, of a generation without a root, outlives it.
class GenerationMaker {
 public:
  // `bytes_max`: what the next generation may have; when this one has it, it is replaced only once it is full.
  GenerationMaker(GenerationWriter& writer, std::uint64_t bytes_max);

  // Each input returns what follows from it. `now_ms` is of a clock that never goes back.
  MakerEffects start(std::uint64_t now_ms);
  MakerEffects on_page(const SourcePage& page, std::uint64_t now_ms);
  MakerEffects on_changes(const SourceChanges& changes, std::uint64_t now_ms);
  MakerEffects on_compacted(ViewRevision compacted, std::uint64_t now_ms);
  MakerEffects on_page_failed(std::uint64_t now_ms);
  MakerEffects on_changes_failed(std::uint64_t now_ms);
  // Every few milliseconds while something waits for time; later ticks make it slower, and nothing else.
  MakerEffects tick(std::uint64_t now_ms);
  // Whether a tick has something to do.
  bool waits_for_time() const;

  bool listed() const;     // all pages are there
  bool published() const { return writer_.root_number() > 0; }
  const GenerationWriter& writer() const { return writer_; }
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }
  std::uint64_t pages_asked_again() const { return pages_asked_again_; }

 private:
  // Everything below is in maker.cc.
  GenerationWriter& writer_;
  const std::uint64_t bytes_max_;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t pages_asked_again_ = 0;
};

}  // namespace ingot::replication_view_making
