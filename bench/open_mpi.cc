#include "bench/open_mpi.h"

#include <dlfcn.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot::bench {
namespace {

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

}  // namespace

absl::StatusOr<OpenMpi> open_mpi() {
  // RTLD_GLOBAL: the library's parts find each other's symbols in the global scope.
  void* const library = ::dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return absl::NotFoundError("Open MPI is not installed (libmpi.so.40); ./deploy/install.sh --benches installs it");
  }
  OpenMpi mpi{};
  Names names(library);
  names.find("MPI_Init", mpi.init);
  names.find("MPI_Finalize", mpi.finalize);
  names.find("MPI_Comm_rank", mpi.rank);
  names.find("MPI_Comm_size", mpi.size);
  names.find("MPI_Barrier", mpi.barrier);
  names.find("MPI_Bcast", mpi.broadcast);
  names.find("MPI_Reduce", mpi.reduce);
  names.find("MPI_Allreduce", mpi.allreduce);
  names.find("MPI_Win_allocate_shared", mpi.allocate_shared);
  names.find("MPI_Win_shared_query", mpi.query_shared);
  names.find("MPI_Get_library_version", mpi.version);
  names.find("ompi_mpi_comm_world", mpi.world);
  names.find("ompi_mpi_byte", mpi.byte_type);
  names.find("ompi_mpi_double", mpi.double_type);
  names.find("ompi_mpi_op_sum", mpi.sum);
  names.find("ompi_mpi_info_null", mpi.no_info);
  if (!names.missing().empty()) {
    return absl::NotFoundError(absl::StrCat("libmpi.so.40 has no ", names.missing(), ": it is not Open MPI's"));
  }
  return mpi;
}

}  // namespace ingot::bench
