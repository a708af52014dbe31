#include "tests/replication/view/handle/small_view.h"

#include <algorithm>

#include "core/check.h"
#include "replication/view/generation/layout.h"
#include "replication/view/generation/memory.h"

namespace ingot::test {
namespace {

constexpr std::uint64_t kBytes = kGenerationBytesMin;

class LocalTickets final : public ViewTickets {
 public:
  LocalTickets(SmallView& view, std::function<void(ViewTicket&)> spoil) : view_(view), spoil_(std::move(spoil)) {}

  void ask() override { asked_ = true; }
  std::optional<absl::StatusOr<ViewTicket>> take(int /*wait_ms*/) override {
    if (!std::exchange(asked_, false)) return std::nullopt;
    if (view_.away) return absl::UnavailableError("the test gives none");
    ViewTicket ticket = view_.ticket();
    if (spoil_) spoil_(ticket);
    return ticket;
  }
  void forget() override {
    asked_ = false;
    ++view_.forgotten;
  }

 private:
  SmallView& view_;
  std::function<void(ViewTicket&)> spoil_;
  bool asked_ = false;
};

}  // namespace

SmallView::SmallView(std::uint64_t identity) : identity_(identity) {
  next_board(identity);
  next_generation();
  name();
}

void SmallView::next_board(std::uint64_t identity) {
  identity_ = identity;
  auto fd = create_board_memory();
  INGOT_CHECK(fd.ok());
  auto mapped = Segment::map(fd->get(), Segment::Access::kReadWrite);
  INGOT_CHECK(mapped.ok());
  board_ = {*std::move(fd), *std::move(mapped)};
  auto keeper = BoardKeeper::create(board_.mapped.bytes(), {.identity = identity, .incarnation = ++incarnation_});
  auto publisher = BoardPublisher::open(board_.mapped.bytes(), incarnation_);
  INGOT_CHECK(keeper.ok() && publisher.ok());
  keeper_ = std::make_unique<BoardKeeper>(*keeper);
  publisher_ = std::make_unique<BoardPublisher>(*publisher);
}

void SmallView::next_generation() {
  auto fd = create_generation_memory(kBytes);
  INGOT_CHECK(fd.ok());
  auto mapped = Segment::map(fd->get(), Segment::Access::kReadWrite);
  INGOT_CHECK(mapped.ok());
  auto writer =
      GenerationWriter::create(mapped->bytes(), {.seed = 3, .identity = identity_, .number = ++number_});
  INGOT_CHECK(writer.ok());
  writer_ = *std::move(writer);
  generations_.push_back({*std::move(fd), *std::move(mapped)});
}

void SmallView::name() {
  named_ = generations_.size() - 1;
  keeper_->name({.number = number_, .bytes = kBytes, .incarnation = incarnation_});
}

void SmallView::publish(ViewRevision revision, const std::vector<std::pair<std::string, std::string>>& puts) {
  for (const auto& [key, value] : puts) {
    INGOT_CHECK(writer_->apply({.key = key,
                                .value = value,
                                .deleted = value.empty(),
                                .revision = revision,
                                .created = revision,
                                .version = 1}).ok());
  }
  INGOT_CHECK(writer_->publish(revision, ++now_ms_).ok());
  publisher_->set_revision(revision);
}

void SmallView::mark_gone_and_punch() {
  GenerationWriter::mark_gone(generations_[named_].mapped.bytes());
  std::uint64_t offset = 0;
  for (bool done = false; !done;) {
    const auto punched = punch_some(generations_[named_].fd.get(), offset);
    INGOT_CHECK(punched.ok());
    done = *punched;
  }
}

void SmallView::damage() {
  const auto bytes = generations_[named_].mapped.bytes().subspan(kRootCellsWord * kWordBytes);
  std::fill(bytes.begin(), bytes.end(), std::byte{0xa5});
}

ViewTicket SmallView::ticket() const {
  auto board = read_only_generation(board_.fd.get());
  auto generation = read_only_generation(generations_[named_].fd.get());
  INGOT_CHECK(board.ok() && generation.ok());
  return {*std::move(board), *std::move(generation)};
}

std::unique_ptr<ViewTickets> SmallView::tickets(std::function<void(ViewTicket&)> spoil) {
  return std::make_unique<LocalTickets>(*this, std::move(spoil));
}

}  // namespace ingot::test
