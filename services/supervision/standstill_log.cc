#include "services/supervision/standstill_log.h"

#include <chrono>
#include <utility>

#include "replication/pages/page_status.h"
#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

StandstillLog::StandstillLog(boost::asio::io_context& io, Write warning, Write info)
    : timer_(io), warning_(std::move(warning)), info_(std::move(info)) {}

void StandstillLog::observe(bool any_runs) {
  if (std::exchange(any_runs_, any_runs) == any_runs) return;
  if (any_runs) {
    timer_.cancel();
    if (std::exchange(logged_, false)) info_("a replica runs again, or is being started");
    return;
  }
  timer_.expires_after(std::chrono::milliseconds(kStandstillMs));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || any_runs_) return;
    logged_ = true;
    warning_(no_replica_runs());
  });
}

}  // namespace ingot::services_supervision
