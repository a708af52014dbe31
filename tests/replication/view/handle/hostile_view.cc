#include "tests/replication/view/handle/hostile_view.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/check.h"
#include "replication/view/board/layout.h"
#include "replication/view/generation/layout.h"
#include "replication/view/handle/handle.h"
#include "tests/replication/view/generation/patches.h"
#include "tests/replication/view/handle/small_view.h"

namespace ingot::test {
namespace {

constexpr int kKeys = 200;

std::string key_of(std::uint64_t drawn) { return "/key/" + std::to_string(drawn % kKeys); }

// The same each time, but for what a command changes, which is taken back.
class Target {
 public:
  Target() {
    std::vector<std::pair<std::string, std::string>> puts;
    for (int i = 0; i < kKeys; ++i) puts.emplace_back(key_of(static_cast<std::uint64_t>(i)), std::string(50, 'v'));
    view.publish(10, puts);
    for (ViewRevision revision = 11; revision < 40; ++revision) {
      view.publish(revision, {{key_of(static_cast<std::uint64_t>(revision * 7)), revision % 3 == 0 ? "" : "w"}});
    }
    view.hold();
    const std::uint64_t* const words = reinterpret_cast<const std::uint64_t*>(view.generation_bytes().data());
    nodes_end_ = words[kHighWaterWord] * kUnitWords;
  }

  // Most of the places are where a handle looks at each read.
  std::uint64_t* place(std::uint64_t drawn) {
    auto* const board = reinterpret_cast<std::uint64_t*>(view.board_bytes().data());
    auto* const generation = reinterpret_cast<std::uint64_t*>(view.generation_bytes().data());
    const std::uint64_t rest = drawn / 8;
    switch (drawn % 8) {
      case 0: return board + rest % 32;
      case 1: return board + kBoardRevisionWord + rest % 2;
      case 2: return board + kBoardLockWord + rest % 8;
      case 3: return generation + rest % 24;
      case 4: return generation + kRootCellsWord + rest % (kRootCells * kRootWords);
      default: return generation + kHeaderWords + rest % (nodes_end_ - kHeaderWords);
    }
  }

  SmallView view;

 private:
  std::uint64_t nodes_end_ = 0;
};

void read(ViewHandle& handle, std::uint64_t kind, std::uint64_t drawn) {
  ViewAnswer answer;
  std::uint64_t count = 0;
  const std::string key = key_of(drawn), other = key_of(drawn >> 16);
  const std::size_t bytes_max = drawn % 5000;
  const ViewRevision before = handle.revision();
  ViewError error = ViewError::kNone;
  switch (kind) {
    case 0: error = handle.get(key, answer); break;
    case 1: error = handle.get_several(std::vector<std::string_view>{key, other}, answer); break;
    case 2: error = handle.range({.begin = key, .bytes_max = bytes_max}, answer); break;
    case 3: error = handle.prefix("/key/1", answer); break;
    case 4: error = handle.count(key, other, count); break;
    case 5: error = handle.changes(handle.revision() - static_cast<ViewRevision>(drawn % 40), answer); break;
    case 6: handle.set_demands({.wait_ms = 0, .age_max_ms = static_cast<std::int64_t>(drawn % 3) - 1}); break;
    default: (void)handle.age_ms(); error = handle.wait_for(static_cast<ViewRevision>(drawn % 50), 0);
  }
  INGOT_CHECK(error == ViewError::kNone || answer.empty(), "after an error an answer is empty");
  INGOT_CHECK(handle.revision() >= before, "a handle never goes back");
  std::size_t seen = 0;
  for (std::size_t i = 0; i < answer.size(); ++i) seen += answer[i].key.size() + answer[i].value.size();
  INGOT_CHECK(seen <= answer.bytes() && answer.bytes() <= (kind == 2 ? bytes_max + 2 * kViewBytesMax + 4096
                                                                      : kChangesAnswerBytesMax + 4 * kViewBytesMax));
}

}  // namespace

void run_hostile_view(std::string_view bytes) {
  static Target target;
  std::vector<std::pair<std::uint64_t*, std::uint64_t>> before;  // words that were changed
  {
    ViewHandle handle(target.view.tickets(), {.wait_ms = 0}, 1);
    (void)handle.wait_for(0, 0);
    while (const auto next = take_patch(bytes)) {
      const std::uint64_t kind = next->kind();
      if (kind < kPatchReads) {
        read(handle, kind, next->value);
        continue;
      }
      std::uint64_t* const at = target.place(next->command / 16 + (kind % 2 == 1 ? next->value >> 44 << 12 : 0));
      before.emplace_back(at, *at);
      *at = next->changed(*at);
    }
  }
  std::reverse(before.begin(), before.end());
  for (const auto& [at, word] : before) *at = word;
}

}  // namespace ingot::test
