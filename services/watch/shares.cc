#include "services/watch/shares.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/watch/limits.h"

namespace ingot::watch {
namespace {

struct Bound {
  const char* what;
  std::size_t max;  // of all connections, but for their own
  std::size_t own;  // of each
  const char* advice;
};

const Bound& bound_of(Resource what) {
  static constexpr std::array<Bound, kResources> kBounds{{
      {"watch streams, and calls that wait for locks", kWatchStreamsMax, kWatchStreamsOwn,
       "use one stream for several watches"},
      {"watches", kWatchesMax, kWatchesOwn, "watch a range of keys instead"},
      {"bytes of watched keys", kWatchKeyBytesMax, kWatchKeyBytesOwn, "watch a range of keys instead"},
  }};
  return kBounds[static_cast<std::size_t>(what)];
}

}  // namespace

Holder& Shares::join(const WatchOutput& output) {
  std::unique_ptr<Holder>& place = holders_[output.connection()];
  if (place == nullptr) {
    place = std::make_unique<Holder>();
    place->connection = output.connection();
    place->name = output.peer();
  }
  return *place;
}

void Shares::leave(Holder& holder) {
  if (holder.of(Resource::kStreams) == 0) holders_.erase(holder.connection);
}

std::optional<std::string> Shares::refusal(const Holder& holder, Resource what, std::size_t more,
                                           std::uint64_t now_ns) {
  const Bound& bound = bound_of(what);
  const std::size_t free = bound.max - std::min(bound.max, all(what));
  const std::size_t share = std::max(bound.own, free);
  if (holder.of(what) + more <= share) return std::nullopt;
  const Greatest& most = greatest(what, now_ns);
  std::string why = absl::StrCat("too many ", bound.what, ": ", all(what), " of ", bound.max, " are taken, the most (",
                                 most.held, ") by ");
  if (most.connection == holder.connection) {
    why += "this connection";
  } else {
    absl::StrAppend(&why, most.name, ", one of ", holders_.size(), " connections; this one has ", holder.of(what),
                    " and may have ", share);
  }
  return absl::StrCat(why, "; ", bound.advice);
}

void Shares::add(Holder& holder, Resource what, std::size_t more) {
  holder.held[static_cast<std::size_t>(what)] += more;
  all_[static_cast<std::size_t>(what)] += more;
}

void Shares::remove(Holder& holder, Resource what, std::size_t less) {
  holder.held[static_cast<std::size_t>(what)] -= less;
  all_[static_cast<std::size_t>(what)] -= less;
}

const Shares::Greatest& Shares::greatest(Resource what, std::uint64_t round_ns) {
  Greatest& most = greatest_[static_cast<std::size_t>(what)];
  if (most.round_ns == round_ns) return most;
  most = {round_ns, nullptr, "", 0};
  for (const auto& [connection, holder] : holders_) {
    if (most.connection != nullptr && holder->of(what) <= most.held) continue;
    most.connection = connection, most.held = holder->of(what);
  }
  most.name = holders_.at(most.connection)->name;
  return most;
}

}  // namespace ingot::watch
