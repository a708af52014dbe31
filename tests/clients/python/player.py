"""Plays a scenario's steps with grpcio; messages are dynamic. tests/clients/run.sh calls it.

usage: player.py HOST:PORT DESCRIPTORS STEPS
"""

import argparse
import collections
import json
import sys
import threading

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

LOOPS = 8             # of an "until" step
AFTER_FAILURE_S = 0.02
UNDER_WAY = 50        # calls after which the runner is told that the load runs
CANCEL_AFTER_S = 0.05
KEEP_ALIVE_MS = 10000


def pool_of(path):
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, "rb") as file:
        files.ParseFromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for each in files.file:
        pool.Add(each)
    return pool


def line(name, code, text):
    print(f"{name}: {code} {text}".replace("\n", " "), flush=True)


def answered(future):
    """(code, text) of a call, once it has ended."""
    try:
        return "OK", json.dumps(json_format.MessageToDict(future.result(), preserving_proto_field_name=True))
    except grpc.FutureCancelledError:
        return future.code().name, future.details()
    except grpc.RpcError as error:
        return error.code().name, error.details()


class Player:
    def __init__(self, endpoint, pool, options=()):
        self.channel, self.pool = grpc.insecure_channel(endpoint, options=options), pool

    def types(self, step):
        method = self.pool.FindMethodByName(step["Method"].replace("/", "."))
        return [message_factory.GetMessageClass(each) for each in (method.input_type, method.output_type)]

    def arguments(self, step):
        deadline_s = step["DeadlineMs"] / 1000 if step.get("DeadlineMs") else None
        compression = grpc.Compression.Gzip if step.get("Gzip") else None
        metadata = [(name, value.encode() if name.endswith("-bin") else value)
                    for name, value in step.get("Metadata", {}).items()]
        return {"timeout": deadline_s, "compression": compression, "metadata": metadata}

    def start(self, step):
        request, response = self.types(step)
        call = self.channel.unary_unary(step["Path"], request.SerializeToString, response.FromString)
        return call.future(json_format.ParseDict(step["Request"], request()), **self.arguments(step))

    def call(self, step):
        return answered(self.start(step))

    def hold(self, step, seconds=None):
        """Opens a call, whose request leaves after so many seconds; None: never."""
        request, response = self.types(step)

        def requests():
            if not threading.Event().wait(seconds):
                yield json_format.ParseDict(step["Request"], request())

        call = self.channel.stream_unary(step["Path"], request.SerializeToString, response.FromString)
        return call.future(requests(), **self.arguments(step))

    def cancel(self, step):
        future = self.hold(step)
        threading.Event().wait(CANCEL_AFTER_S)
        future.cancel()
        return answered(future)

    def headers(self, step):
        """The names of what the server sends before and behind the answer, and the code."""
        future = self.start(step)
        code = answered(future)[0]
        names = [sorted({name for name, _ in pairs or ()}) for pairs in
                 (future.initial_metadata(), future.trailing_metadata())]
        return "OK", json.dumps({"code": code, "headers": names[0], "trailers": names[1]})

    def parallel(self, step):
        answers = [answered(future) for future in [self.start(step) for _ in range(step["Count"])]]
        bad = [answer for answer in answers if answer[0] != "OK"]
        return bad[0] if bad else ("OK", json.dumps({"answered": len(answers)}))

    def until(self, step):
        told, lock, revisions = threading.Event(), threading.Lock(), []
        failed, texts = collections.Counter(), collections.Counter()

        def loop():
            while not told.is_set():
                code, text = self.call(step)
                with lock:
                    if code == "OK":
                        revisions.append(int(json.loads(text)["header"]["revision"]))
                        if len(revisions) == UNDER_WAY:
                            line(step["Step"], "GOING", "")
                    else:
                        failed[code] += 1
                        texts[text] += 1
                if code != "OK":
                    told.wait(AFTER_FAILURE_S)

        threads = [threading.Thread(target=loop) for _ in range(LOOPS)]
        for thread in threads:
            thread.start()
        sys.stdin.readline()
        told.set()
        for thread in threads:
            thread.join()
        return "OK", json.dumps({"completed": len(revisions), "failed": failed, "texts": texts,
                                 "revisions": revisions})


def play(player, pinging, step):
    plays = {"call": player.call, "deadline": lambda step: answered(player.hold(step)), "cancel": player.cancel,
             "keepalive": lambda step: answered(pinging.hold(step, step["WaitMs"] / 1000)),
             "parallel": player.parallel, "until": player.until, "headers": player.headers}
    return plays[step["Do"]](step) if step["Do"] in plays else ("SKIPPED", "")


def main(words):
    parser = argparse.ArgumentParser(prog="player.py", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ENDPOINT", "DESCRIPTORS", "STEPS"):
        parser.add_argument(name)
    flags = parser.parse_args(words)
    pool = pool_of(flags.DESCRIPTORS)
    player = Player(flags.ENDPOINT, pool)
    # Counted as another channel, or grpcio would give both one connection.
    pinging = Player(flags.ENDPOINT, pool, [("grpc.keepalive_time_ms", KEEP_ALIVE_MS),
                                            ("grpc.use_local_subchannel_pool", 1)])
    with open(flags.STEPS) as file:
        for step in json.load(file):
            line(step["Step"], *play(player, pinging, step))


main(sys.argv[1:])
