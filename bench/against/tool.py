"""etcd's own benchmark tool: where it is, and one measurement with it."""
import os
import select
import subprocess
import sys
import tempfile

from .figures import ToolError, rate_of
from .servers import KEY, ServerError, end_with_this_process, environment

HERE = os.path.dirname(os.path.abspath(__file__))
KEY_BYTES = 8
KEYS = 1000  # as bench/front_end


def built_tool():
    """The tool's path, or None and why not, in a few words."""
    print("against_etcd: etcd's benchmark tool is fetched and built, unless an earlier run has done so",
          file=sys.stderr)
    done = subprocess.run([os.path.join(HERE, "build.sh")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return done.stdout.strip(), None
    return None, (done.stderr.strip().splitlines() or [f"build.sh exited with {done.returncode}"])[-1]


def command(path, server, point, requests, flags):
    words = [path, point.operation, f"--endpoints={server.endpoint}", f"--clients={point.clients}",
             f"--conns={min(point.clients, flags.connections)}", f"--total={requests}", "--precise"]
    if point.operation == "range":
        return [*words, "--consistency=l", KEY]
    return [*words, f"--key-size={KEY_BYTES}", f"--key-space-size={KEYS}", f"--val-size={flags.value_bytes}"]


def wait_for_either(tool, server):
    """Until the tool has ended; an error if the server ends first, since the tool would wait for it for ever."""
    watched = {os.pidfd_open(process.pid): process for process in (tool, server.process)}
    poll = select.poll()
    for descriptor in watched:
        poll.register(descriptor, select.POLLIN)
    try:
        ended = [watched[descriptor] for descriptor, _ in poll.poll()]
    finally:
        for descriptor in watched:
            os.close(descriptor)
    if tool not in ended:
        raise ServerError(f"{server.name} ended during a measurement; the last that it said: {server.last_line()}")
    return tool.wait()


def measure(path, server, point, requests, flags):
    """Requests a second."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        tool = subprocess.Popen(command(path, server, point, requests, flags), stdin=subprocess.DEVNULL, stdout=output,
                                stderr=errors, start_new_session=True, preexec_fn=end_with_this_process,
                                env=environment())
        try:
            code = wait_for_either(tool, server)
        finally:
            tool.kill()
            tool.wait()
        output.seek(0)
        errors.seek(0)
        try:
            if code != 0:
                raise ToolError(f"it exited with {code}: {(errors.read().strip().splitlines() or ['no reason'])[-1]}")
            return rate_of(output.read())
        except ToolError as error:
            raise ToolError(f"{point.operation} with {point.clients} clients on {server.name}: {error}") from None
