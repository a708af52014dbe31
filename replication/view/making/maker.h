// Makes a generation from a source, and keeps it up to date: a pure state machine. Answers and ticks go in; it writes
// into its generation, and effects come out.
//
// Keys are listed in pages, each at its own revision, so no compaction ends the list. At the same time changes are
// asked for, from the first page's revision on. A change is applied if it is newer than the page that covers its key.
// If that page has not come yet, the newest change of each key waits for it. When all pages are there, and all changes
// up to a whole revision that is not below any page's, the first root is published: the generation is ready to be
// named. From then on there is a root after each answer that ends with a whole revision.
//
// A page that is older than changes that were forgotten is asked for again. If a compaction overtakes the changes
// before the first root, older pages count as missing, and only these are asked for again. If it does so after the
// first root, the generation is given up, and stays at its last root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "replication/view/board/board.h"
#include "replication/view/generation/writer.h"
#include "replication/view/making/limits.h"
#include "replication/view/making/source.h"

namespace ingot::inline replication_view_making {

// A generation's size for what a source has, and for what lives in the one before: whole pages, from kViewBytesMin to
// `bytes_max`.
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
  // This generation gets no further: another one must take its place. No effects follow.
  std::optional<WhyReplaced> give_up;
};

struct MakerOptions {
  std::uint64_t bytes_max = kGenerationBytesMax;  // of the next one; a generation that has it is not replaced as full
  std::uint64_t waiting_bytes_max = kWaitingBytesMax;
};

// Not thread-safe. The writer, of a generation without a root, outlives it.
class GenerationMaker {
 public:
  GenerationMaker(GenerationWriter& writer, const MakerOptions& options) : writer_(writer), options_(options) {}

  // Each input returns what follows from it. `now_ms` is of a clock that never goes back. REQUIRES: an answer's
  // question is open. An answer that no source can give leads to `give_up` with kDamaged.
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

  bool published() const { return writer_.root_number() > 0; }
  const GenerationWriter& writer() const { return writer_; }
  std::uint64_t pages_asked_again() const { return pages_asked_again_; }

 private:
  // A part of the keys, up to the next part's first one.
  struct Part {
    ViewRevision revision = kMissing;  // of the page that covers it
    bool stale = false;                // keys of an older page are in the generation
  };
  struct Waiting {
    std::string value;
    ViewChange change;  // without key and value
  };
  using Parts = std::map<std::string, Part, std::less<>>;
  static constexpr ViewRevision kMissing = -1;

  bool listed() const { return missing_ == 0; }
  bool valid(const SourcePage& page) const;
  bool valid(const SourceChanges& changes) const;
  void cover(const SourcePage& page, MakerEffects& effects);
  bool remove_stale(std::string_view end, const SourcePage& page, MakerEffects& effects);
  bool apply_waiting(std::string_view end, ViewRevision above, MakerEffects& effects);
  void take(const ViewChange& change, MakerEffects& effects);
  void wait(const ViewChange& change);
  bool apply(const ViewChange& change, MakerEffects& effects);
  void publish(std::uint64_t now_ms, MakerEffects& effects);
  bool has_room(std::uint64_t now_ms, MakerEffects& effects);
  void ask(std::uint64_t now_ms, MakerEffects& effects);
  void give_up(WhyReplaced why, MakerEffects& effects);
  ViewRevision whole_to() const { return position_.revision - 1; }  // all changes up to there were given

  GenerationWriter& writer_;
  const MakerOptions options_;
  Parts parts_{{"", {}}};  // until the first root
  std::size_t missing_ = 1;
  std::string search_from_;  // missing parts are asked for from here on, and then from the beginning
  std::map<std::string, Waiting, std::less<>> waiting_;  // by key
  std::uint64_t waiting_bytes_ = 0;
  ViewRevision floor_ = 0;        // an older page lacks changes that are not kept
  ViewRevision newest_page_ = 0;  // its revision
  SourcePosition position_;       // of the next change; revision 0: no page has told where changes begin
  std::optional<std::string> page_from_;  // the open question's
  bool changes_open_ = false;
  std::uint64_t ask_page_ms_ = 0;  // not before
  std::uint64_t ask_changes_ms_ = 0;
  bool replace_told_ = false;
  bool given_up_ = false;
  std::uint64_t pages_asked_again_ = 0;
};

}  // namespace ingot::replication_view_making
