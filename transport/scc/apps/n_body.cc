// Particles that attract each other, every pair of them, in steps of fixed length. A particle is 32 bytes, as in the
// papers. Each rank moves its own; before each step all ranks exchange positions.
//
// A rank adds up the forces on a particle in the order of all particles, as the sequential run does, so results are the
// same to the last bit.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/prng.h"
#include "transport/scc/apps/program.h"

namespace ingot::scc::inline transport_scc_apps {
namespace {

struct Particle {
  float position[3];
  float mass;
  float velocity[3];
  float unused;
};
static_assert(sizeof(Particle) == 32);

constexpr float kStepSeconds = 0.01f;
constexpr float kSoftening = 0.05f;  // added to squared distances, against division by 0

void move(std::span<const Particle> all, Share share, std::span<Particle> moved) {
  for (std::size_t i = share.begin; i < share.end; ++i) {
    float force[3] = {};
    for (const Particle& other : all) {
      float way[3], square = kSoftening;
      for (int d = 0; d < 3; ++d) {
        way[d] = other.position[d] - all[i].position[d];
        square += way[d] * way[d];
      }
      const float pull = other.mass / (square * std::sqrt(square));
      for (int d = 0; d < 3; ++d) force[d] += pull * way[d];
    }
    Particle& particle = moved[i - share.begin];
    particle = all[i];
    for (int d = 0; d < 3; ++d) {
      particle.velocity[d] += force[d] * kStepSeconds;
      particle.position[d] += particle.velocity[d] * kStepSeconds;
    }
  }
}

class NBody final : public Application {
 public:
  NBody(const AppPoint& point, std::uint64_t seed) : steps_(point.steps), begin_(point.size) {
    Prng random(seed);
    for (Particle& particle : begin_) {
      particle = {};
      for (float& x : particle.position) x = static_cast<float>(random.unit());
      for (float& v : particle.velocity) v = static_cast<float>(random.unit() - 0.5);
      particle.mass = static_cast<float>(0.1 + random.unit());
    }
  }

  std::size_t private_bytes() const override { return scratch() + kLineBytes; }

  void fill(Chip& chip, const Group& group) override {
    for (int rank = 0; rank < group.size(); ++rank) {
      const Share own = share_of(size(), rank, group.size());
      const auto memory = particles(chip.private_memory(group.core(rank)));
      std::copy_n(&begin_[own.begin], own.size(), &memory[own.begin]);
    }
  }

  void run(Worker& worker) override {
    const Share own = share_of(size(), worker.rank(), worker.ranks());
    std::vector<Particle> moved(own.size());
    for (int step = 0; step < steps_; ++step) {
      tell_all(worker);
      const auto all = particles(worker.memory());
      move(all, own, moved);
      std::copy(moved.begin(), moved.end(), all.begin() + static_cast<std::ptrdiff_t>(own.begin));
      worker.computed(own.size() * size());
    }
  }

  absl::Status check(Chip& chip, const Group& group) override {
    std::vector<Particle> all = begin_, moved(size());
    for (int step = 0; step < steps_; ++step) {
      move(all, {0, size()}, moved);
      all.swap(moved);
    }
    for (int rank = 0; rank < group.size(); ++rank) {
      const Share own = share_of(size(), rank, group.size());
      const auto memory = particles(chip.private_memory(group.core(rank)));
      for (std::size_t i = own.begin; i < own.end; ++i) {
        if (std::memcmp(&memory[i], &all[i], sizeof(Particle)) == 0) continue;
        return absl::InternalError(absl::StrCat("particle ", i, " is not where the sequential run has it"));
      }
    }
    return absl::OkStatus();
  }

 private:
  std::size_t size() const { return begin_.size(); }
  std::size_t scratch() const { return size() * sizeof(Particle); }
  std::span<Particle> particles(std::span<std::byte> memory) const { return array_at<Particle>(memory, 0, size()); }
  Communication::Piece piece_of(int rank, int ranks) const {
    const Share share = share_of(size(), rank, ranks);
    return {private_address(share.begin * sizeof(Particle)), share.size() * sizeof(Particle)};
  }

  void tell_all(Worker& worker) const {
    Communication& all = worker.communication();
    const int ranks = worker.ranks();
    if (all.point_to_point()) {
      return all.exchange([&](int) { return piece_of(worker.rank(), ranks); },
                          [&](int from, std::size_t) { return piece_of(from, ranks).at; }, private_address(scratch()));
    }
    std::vector<Message> messages;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto [at, bytes] = piece_of(rank, ranks);
      messages.push_back({all.group().core(rank), bytes, at});
    }
    all.broadcast(messages);
  }

  const int steps_;
  std::vector<Particle> begin_;
};

}  // namespace

std::unique_ptr<Application> make_n_body(const AppPoint& point, std::uint64_t seed) {
  return std::make_unique<NBody>(point, seed);
}

}  // namespace ingot::scc::transport_scc_apps
