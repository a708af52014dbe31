#include "tests/fuzz/client_schedule.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace ingot::fuzz {
namespace {

// Of one schedule: it ends at the first of these, or when its stage says so.
constexpr std::size_t kUploadBytesMax = 24 * 1024 * 1024;
constexpr std::size_t kActionsMax = 4'000;
constexpr std::size_t kFormerActions = 22;  // that the corpus' bytes mean, modulo so many

}  // namespace

// At the end, too, the ordinary client asks, with the others there and without them.
void Schedule::run() {
  while (at_ < bytes_.size() && within_bounds()) act();
  for (int i = 0; i < 20; ++i) stage_.round(20);
  trace("end");
  stage_.ask_ordinary(1'000);
  stage_.ask_ordinary(200'000);
  while (stage_.clients() > 0) stage_.close(stage_.client(stage_.clients() - 1));
  stage_.ask_ordinary(1'000);
}

bool Schedule::within_bounds() const {
  return !stage_.over() && uploaded_bytes_ < kUploadBytesMax && acted_ < kActionsMax;
}

void Schedule::act() {
  ++acted_;
  starts_[acted_ % starts_.size()] = at_;
  const unsigned drawn = byte();
  const Action& action = actions()[drawn < kActions ? drawn : drawn % kFormerActions];
  trace(action.name);
  (this->*action.act)();
  stage_.round(1);
}

void Schedule::trace(const char* what, std::size_t number) {
  static const bool wanted = std::getenv("INGOT_FUZZ_TRACE") != nullptr;
  if (wanted) std::fprintf(stderr, "%s %zu\n", what, number);
}

// Mostly small.
std::size_t Schedule::number(unsigned bits_max) {
  const unsigned drawn = byte();
  return std::size_t{1} << (drawn < 200 ? drawn % 16 * bits_max / 32 : drawn % bits_max);
}

Client& Schedule::link() {
  const unsigned drawn = byte();
  if (stage_.clients() == 0) return *stage_.connect(kWindows[drawn % kWindows.size()]);
  const std::size_t index = drawn < 128 ? stage_.clients() - 1 : drawn % stage_.clients();
  trace("  connection", index);
  return stage_.client(index);
}

int Schedule::stream(Client& link) {
  const unsigned drawn = byte();
  auto& streams = link.peer.streams();
  if (streams.empty()) open(link, kWatchPath, "", false, drawn);
  const int id = drawn < 128 ? streams.rbegin()->first : std::next(streams.begin(), drawn % streams.size())->first;
  trace("  stream", static_cast<std::size_t>(id));
  return id;
}

void Schedule::connect() { stage_.connect(kWindows[byte() % kWindows.size()]); }

void Schedule::close() {
  if (stage_.clients() > 0) stage_.close(link());
}

void Schedule::ask() { stage_.ask_ordinary(kValueBytes[byte() % kValueBytes.size()]); }

void Schedule::pass() {
  const std::size_t rounds = number(10);
  const std::uint64_t ms = std::uint64_t{1} << byte() % 12;
  trace("  rounds", rounds);
  for (std::size_t i = 0; i < rounds && within_bounds(); ++i) stage_.round(i % 8 == 0 ? ms : 1);
}

// Somebody else's command.
void Schedule::write() {
  const unsigned how = byte();
  const std::string at = key(), bytes = value();
  uploaded_bytes_ += bytes.size();
  if (how % 16 == 0) return stage_.compact();
  if (how % 16 == 1) return stage_.remove(at, kLastKey);
  stage_.put(at, bytes);
}

// The last actions, some times.
void Schedule::repeat() {
  const std::size_t actions = 1 + byte() % (starts_.size() - 2);
  const std::size_t times = number(8);
  if (repeating_ || acted_ <= actions) return;
  repeating_ = true;
  const std::size_t end = at_, begin = starts_[(acted_ - actions) % starts_.size()];
  for (std::size_t i = 0; i < times && within_bounds(); ++i) {
    trace("  time", i);
    at_ = begin;
    for (std::size_t left = actions; left > 0 && at_ < end && within_bounds(); --left) act();
  }
  at_ = end;
  repeating_ = false;
}

const std::array<Schedule::Action, Schedule::kActions>& Schedule::actions() {
  static const std::array<Action, kActions> all = {{
      {"connect", 1, &Schedule::connect},
      {"close", 1, &Schedule::close},
      {"call", 5, &Schedule::call},
      {"open a watch stream", 2, &Schedule::open_watch},
      {"create watches", 6, &Schedule::create},
      {"create invalid watches", 4, &Schedule::create_invalid},
      {"cancel watches", 3, &Schedule::cancel},
      {"ask for progress", 3, &Schedule::ask_progress},
      {"send a malformed message", 3, &Schedule::send_malformed},
      {"half-close", 2, &Schedule::half_close},
      {"reset", 3, &Schedule::reset},
      {"read on", 2, &Schedule::read_on},
      {"give window", 3, &Schedule::give_window},
      {"change settings", 3, &Schedule::change_settings},
      {"ping", 2, &Schedule::ping},
      {"send a frame", 8, &Schedule::send_frame},
      {"flood", 6, &Schedule::flood},
      {"go away", 1, &Schedule::go_away},
      {"pass time", 2, &Schedule::pass},
      {"write", 3, &Schedule::write},
      {"ask", 1, &Schedule::ask},
      {"repeat", 2, &Schedule::repeat},
      {"call another service", 6, &Schedule::call_service},
  }};
  return all;
}

// Each sample does some kinds of actions only, and each of these more or less often: what needs many of one kind and
// none of another is found sooner.
std::string sample_client(Prng& rng) {
  const auto& actions = Schedule::actions();
  std::array<std::uint64_t, Schedule::kActions> weights{};
  std::uint64_t sum = 0;
  for (std::uint64_t& weight : weights) sum += weight = rng.chance(0.4) ? 0 : 1 + rng.below(8);
  std::string bytes;
  for (std::uint64_t left = 10 + rng.below(150); left > 0 && sum > 0; --left) {
    std::uint64_t drawn = rng.below(sum);
    std::size_t which = 0;
    while (drawn >= weights[which]) drawn -= weights[which++];
    bytes.push_back(static_cast<char>(which));
    for (int i = 0; i < actions[which].arguments; ++i) bytes.push_back(static_cast<char>(rng.below(256)));
  }
  return bytes;
}

}  // namespace ingot::fuzz
