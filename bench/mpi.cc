#include "bench/mpi.h"

#include <dlfcn.h>

#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot::bench {
namespace {

// Handle: as the library's header defines MPI_Comm and the others.
template <typename Handle>
struct Functions {
  int (*init)(int*, char***);
  int (*finalize)();
  int (*rank)(Handle comm, int* rank);
  int (*size)(Handle comm, int* size);
  int (*barrier)(Handle comm);
  int (*broadcast)(void* data, int count, Handle type, int root, Handle comm);
  int (*reduce)(const void* in, void* out, int count, Handle type, Handle op, int root, Handle comm);
  int (*allreduce)(const void* in, void* out, int count, Handle type, Handle op, Handle comm);
  int (*allocate_shared)(long bytes, int unit, Handle info, Handle comm, void* start, Handle* window);
  int (*query_shared)(Handle window, int rank, long* bytes, int* unit, void* start);
};

template <typename Handle>
struct Constants {
  Handle world, byte_type, double_type, sum, no_info;
  void* in_place;
  bool reduces_in_place;
};

template <typename Handle>
class LoadedMpi final : public Mpi {
 public:
  LoadedMpi(const Functions<Handle>& call, const Constants<Handle>& constants) : call_(call), is_(constants) {}

  void init() override { call_.init(nullptr, nullptr); }
  void finalize() override { call_.finalize(); }
  int rank() override {
    int rank = 0;
    call_.rank(is_.world, &rank);
    return rank;
  }
  int size() override {
    int size = 0;
    call_.size(is_.world, &size);
    return size;
  }

  void barrier() override { call_.barrier(is_.world); }
  void broadcast(std::span<std::byte> data, int root) override {
    call_.broadcast(data.data(), static_cast<int>(data.size()), is_.byte_type, root, is_.world);
  }
  void reduce(std::span<double> data, std::span<double> scratch, int root) override {
    const bool in_place = is_.reduces_in_place && rank() == root;
    call_.reduce(in_place ? is_.in_place : data.data(), in_place ? data.data() : scratch.data(),
                 static_cast<int>(data.size()), is_.double_type, is_.sum, root, is_.world);
  }
  void allreduce(std::span<double> data) override {
    call_.allreduce(is_.in_place, data.data(), static_cast<int>(data.size()), is_.double_type, is_.sum, is_.world);
  }

  std::vector<std::byte*> share(std::size_t bytes) override {
    Handle window{};
    void* own = nullptr;
    call_.allocate_shared(static_cast<long>(bytes), 1, is_.no_info, is_.world, &own, &window);
    std::memset(own, 0, bytes);
    std::vector<std::byte*> shares;
    for (int i = 0; i < size(); ++i) {
      long length = 0;
      int unit = 0;
      std::byte* share = nullptr;
      call_.query_shared(window, i, &length, &unit, &share);
      shares.push_back(share);
    }
    barrier();
    return shares;
  }

 private:
  const Functions<Handle> call_;
  const Constants<Handle> is_;
};

// Looks symbols up and remembers the first missing one.
class Names {
 public:
  explicit Names(void* library) : library_(library) {}

  template <typename T>
  void find(const char* name, T& target) {
    target = reinterpret_cast<T>(::dlsym(library_, name));
    if (target == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

template <typename Handle>
void find_functions(Names& names, Functions<Handle>& call) {
  names.find("MPI_Init", call.init);
  names.find("MPI_Finalize", call.finalize);
  names.find("MPI_Comm_rank", call.rank);
  names.find("MPI_Comm_size", call.size);
  names.find("MPI_Barrier", call.barrier);
  names.find("MPI_Bcast", call.broadcast);
  names.find("MPI_Reduce", call.reduce);
  names.find("MPI_Allreduce", call.allreduce);
  names.find("MPI_Win_allocate_shared", call.allocate_shared);
  names.find("MPI_Win_shared_query", call.query_shared);
}

template <typename Handle>
absl::StatusOr<std::unique_ptr<Mpi>> made(const char* library, const Names& names, const Functions<Handle>& call,
                                          const Constants<Handle>& constants) {
  if (!names.missing().empty()) {
    return absl::NotFoundError(absl::StrCat(library, " has no ", names.missing(), ": it is another library"));
  }
  return std::make_unique<LoadedMpi<Handle>>(call, constants);
}

absl::StatusOr<std::unique_ptr<Mpi>> open_mpi(const char* library, void* opened) {
  Names names(opened);
  Functions<void*> call{};
  Constants<void*> constants{};
  find_functions(names, call);
  names.find("ompi_mpi_comm_world", constants.world);
  names.find("ompi_mpi_byte", constants.byte_type);
  names.find("ompi_mpi_double", constants.double_type);
  names.find("ompi_mpi_op_sum", constants.sum);
  names.find("ompi_mpi_info_null", constants.no_info);
  constants.in_place = reinterpret_cast<void*>(1);
  constants.reduces_in_place = true;
  return made(library, names, call, constants);
}

absl::StatusOr<std::unique_ptr<Mpi>> mpich(const char* library, void* opened) {
  Names names(opened);
  Functions<int> call{};
  find_functions(names, call);
  const Constants<int> constants{.world = 0x44000000,
                                 .byte_type = 0x4c00010d,
                                 .double_type = 0x4c00080b,
                                 .sum = 0x58000003,
                                 .no_info = 0x1c000000,
                                 .in_place = reinterpret_cast<void*>(-1),
                                 .reduces_in_place = false};
  return made(library, names, call, constants);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Mpi>> load_mpi(MpiKind kind) {
  const bool open = kind == MpiKind::kOpenMpi;
  const char* const library = open ? "libmpi.so.40" : "libmpich.so.12";
  // RTLD_GLOBAL: the library's parts find each other's symbols in the global scope.
  void* const opened = ::dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) {
    return absl::NotFoundError(absl::StrCat(open ? "Open MPI" : "MPICH", " is not installed (", library,
                                            "); ./deploy/install.sh --benches installs it"));
  }
  return open ? open_mpi(library, opened) : mpich(library, opened);
}

}  // namespace ingot::bench
