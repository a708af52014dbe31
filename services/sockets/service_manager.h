// What the service manager is told, as sd_notify(3) has it: one datagram to the Unix socket in $NOTIFY_SOCKET.
#pragma once

#include <string_view>

namespace ingot::inline services_sockets {

// `state`: "READY=1", "STOPPING=1". Nothing happens without the variable, or if nobody takes the datagram; it never
// waits.
void tell_service_manager(std::string_view state);

}  // namespace ingot::services_sockets
