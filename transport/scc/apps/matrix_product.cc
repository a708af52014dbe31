// C = A x B of n x n whole numbers of 32 bits, modulo 2^32, row by row. Rank 0 starts with A and B and ends with C.
#include <string>

#include "absl/strings/str_cat.h"
#include "core/prng.h"
#include "transport/scc/apps/program.h"

namespace ingot::scc::inline transport_scc_apps {
namespace {

class MatrixProduct final : public Application {
 public:
  MatrixProduct(const AppPoint& point, std::uint64_t seed)
      : n_(point.size),
        matrix_bytes_(n_ * n_ * sizeof(std::uint32_t)),
        stride_(whole_lines(matrix_bytes_)),
        seed_(seed) {}

  std::size_t private_bytes() const override { return 3 * stride_; }

  void fill(Chip& chip, const Group& group) override {
    Prng random(seed_);
    for (const std::size_t at : {kA * stride_, kB * stride_}) {
      for (auto& value : matrix(chip.private_memory(group.core(0)), at)) value = static_cast<std::uint32_t>(random());
    }
  }

  void run(Worker& worker) override {
    distribute(worker);
    const Share rows = share_of(n_, worker.rank(), worker.ranks());
    multiply(worker.memory(), rows);
    worker.computed(rows.size() * n_ * n_);
    collect(worker);
  }

  // By scalar products, from a transposed B: a different order of loops than multiply's.
  absl::Status check(Chip& chip, const Group& group) override {
    const auto memory = chip.private_memory(group.core(0));
    const auto a = matrix(memory, kA * stride_), b = matrix(memory, kB * stride_), c = matrix(memory, kC * stride_);
    std::vector<std::uint32_t> columns(n_ * n_);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) columns[j * n_ + i] = b[i * n_ + j];
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < n_; ++k) sum += a[i * n_ + k] * columns[j * n_ + k];
        if (sum == c[i * n_ + j]) continue;
        return absl::InternalError(absl::StrCat("the product is wrong in row ", i, ", column ", j));
      }
    }
    return absl::OkStatus();
  }

 private:
  static constexpr std::size_t kA = 0, kB = 1, kC = 2;  // in their order in memory

  std::span<std::uint32_t> matrix(std::span<std::byte> memory, std::size_t at) const {
    return array_at<std::uint32_t>(memory, at, n_ * n_);
  }
  Address address(std::size_t which, std::size_t row) const {
    return private_address(which * stride_ + row * n_ * sizeof(std::uint32_t));
  }
  std::size_t bytes_of(Share rows) const { return rows.size() * n_ * sizeof(std::uint32_t); }

  void distribute(Worker& worker) const {
    Communication& all = worker.communication();
    const int root = all.group().core(0);
    if (!all.point_to_point()) {
      const Message messages[] = {{root, matrix_bytes_, address(kA, 0)}, {root, matrix_bytes_, address(kB, 0)}};
      return all.broadcast(messages);
    }
    for (int rank = 1; rank < worker.ranks(); ++rank) {
      const Share rows = share_of(n_, rank, worker.ranks());
      if (worker.rank() == 0) {
        all.send(address(kA, rows.begin), bytes_of(rows), rank);
        all.send(address(kB, 0), matrix_bytes_, rank);
      } else if (worker.rank() == rank) {
        all.receive(address(kA, rows.begin), bytes_of(rows), 0);
        all.receive(address(kB, 0), matrix_bytes_, 0);
      }
    }
  }

  void multiply(std::span<std::byte> memory, Share rows) const {
    const auto a = matrix(memory, kA * stride_), b = matrix(memory, kB * stride_), c = matrix(memory, kC * stride_);
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      std::uint32_t* const row = &c[i * n_];
      std::fill_n(row, n_, 0u);
      for (std::size_t k = 0; k < n_; ++k) {
        const std::uint32_t factor = a[i * n_ + k];
        const std::uint32_t* const other = &b[k * n_];
        for (std::size_t j = 0; j < n_; ++j) row[j] += factor * other[j];
      }
    }
  }

  void collect(Worker& worker) const {
    Communication& all = worker.communication();
    static_cast<void>(all.sends());  // a step of all cores
    for (int rank = 1; rank < worker.ranks(); ++rank) {
      const Share rows = share_of(n_, rank, worker.ranks());
      if (worker.rank() == 0) all.receive(address(kC, rows.begin), bytes_of(rows), rank);
      if (worker.rank() == rank) all.send(address(kC, rows.begin), bytes_of(rows), 0);
    }
  }

  const std::size_t n_;
  const std::size_t matrix_bytes_;
  const std::size_t stride_;
  const std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Application> make_matrix_product(const AppPoint& point, std::uint64_t seed) {
  return std::make_unique<MatrixProduct>(point, seed);
}

}  // namespace ingot::scc::transport_scc_apps
