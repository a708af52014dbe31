// Holds sessions, locks and elections for tests/clients/recipes.sh, with jetcd, whose locks and elections are calls of
// the services Lock and Election. holders.py has the questions and answers.
//
// usage: java Holder HOST:PORT

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.election.LeaderKey;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.support.CloseableClient;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

public final class Holder {
  private static final int AGAIN_MS = 100; // after an error

  private static final class Session implements StreamObserver<LeaseKeepAliveResponse> {
    final long lease;
    final CloseableClient keeper;
    volatile boolean ended;

    Session(Client client, long lease) {
      this.lease = lease;
      keeper = client.getLeaseClient().keepAlive(lease, this);
    }

    @Override public void onNext(LeaseKeepAliveResponse answer) {}

    @Override public void onError(Throwable error) {
      if (!isAway(error)) ended = true; // jetcd tells of lost streams, and opens them anew
    }

    @Override public void onCompleted() { ended = true; }
  }

  private final Client client;
  private final Map<String, Session> sessions = new ConcurrentHashMap<>();
  private final Map<String, ByteSequence> locks = new ConcurrentHashMap<>();
  private final Map<String, LeaderKey> elections = new ConcurrentHashMap<>();

  private Holder(String endpoint) { client = Client.builder().endpoints("http://" + endpoint).build(); }

  private static ByteSequence bytes(String text) { return ByteSequence.from(text.getBytes()); }

  private static Status.Code code(Throwable error) { return Status.fromThrowable(error).getCode(); }

  // The server is away, or has left while it worked. A connection that breaks during a call has no code of its own.
  private static boolean isAway(Throwable error) {
    return code(error) == Status.Code.UNAVAILABLE || String.valueOf(error.getMessage()).contains("Network closed");
  }

  // Makes a call again that the server's end interrupts: one lease gets one place in the queue.
  private static <T> T persist(Supplier<CompletableFuture<T>> call) throws Exception {
    while (true) {
      try {
        return call.get().get();
      } catch (ExecutionException error) {
        if (!isAway(error)) throw error;
        Thread.sleep(AGAIN_MS);
      }
    }
  }

  private String open(String name, long ttlS) throws Exception {
    long lease = client.getLeaseClient().grant(ttlS).get().getID();
    sessions.put(name, new Session(client, lease));
    return Long.toString(lease);
  }

  private String put(String name, String key, String value) throws Exception {
    PutOption attached = PutOption.builder().withLeaseId(sessions.get(name).lease).build();
    client.getKVClient().put(bytes(key), bytes(value), attached).get();
    return "";
  }

  private String lock(String name, String prefix) throws Exception {
    long lease = sessions.get(name).lease;
    ByteSequence key = persist(() -> client.getLockClient().lock(bytes(prefix), lease)).getKey();
    locks.put(name + prefix, key);
    return key.toString();
  }

  private String campaign(String name, String prefix, String value) throws Exception {
    long lease = sessions.get(name).lease;
    LeaderKey won =
        persist(() -> client.getElectionClient().campaign(bytes(prefix), lease, bytes(value))).getLeader();
    elections.put(name + prefix, won);
    return won.getKey().toString();
  }

  // Whether nobody came between the read and the write.
  private boolean incrementOnce(ByteSequence key) throws Exception {
    GetResponse got = client.getKVClient().get(key).get();
    boolean found = !got.getKvs().isEmpty();
    long revision = found ? got.getKvs().get(0).getModRevision() : 0;
    int number = found ? Integer.parseInt(got.getKvs().get(0).getValue().toString()) : 0;
    return client.getKVClient().txn().If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(revision)))
        .Then(Op.put(key, bytes(Integer.toString(number + 1)), PutOption.DEFAULT)).commit().get().isSucceeded();
  }

  // Compares and swaps.
  private String increment(String key, int count) throws Exception {
    int done = 0;
    int uncertain = 0;
    for (int i = 0; i < count; ++i) {
      try {
        while (!incrementOnce(bytes(key))) continue;
        ++done;
      } catch (ExecutionException error) {
        if (!isAway(error)) throw error;
        ++uncertain;
      }
    }
    return done + " " + uncertain;
  }

  private String close(String name) throws Exception {
    sessions.get(name).keeper.close();
    client.getLeaseClient().revoke(sessions.get(name).lease).get();
    return "";
  }

  private String carryOut(String[] words) throws Exception {
    switch (words[0]) {
      case "session": return open(words[1], Long.parseLong(words[2]));
      case "put": return put(words[1], words[2], words[3]);
      case "ended": return sessions.get(words[1]).ended ? "yes" : "no";
      case "lock": return lock(words[1], words[2]);
      case "unlock":
        client.getLockClient().unlock(locks.remove(words[1] + words[2])).get();
        return "";
      case "campaign": return campaign(words[1], words[2], words[3]);
      case "resign":
        client.getElectionClient().resign(elections.remove(words[1] + words[2])).get();
        return "";
      case "increment": return increment(words[1], Integer.parseInt(words[2]));
      case "close": return close(words[1]);
      default: throw new IllegalArgumentException("no question: " + words[0]);
    }
  }

  private String answer(String[] words) {
    try {
      return "OK " + carryOut(words);
    } catch (Exception error) {
      if (code(error) == Status.Code.UNIMPLEMENTED) return "UNIMPLEMENTED";
      return ("ERROR " + error).replace('\n', ' ');
    }
  }

  public static void main(String[] words) throws Exception {
    if (words.length != 1) {
      System.err.println("usage: java Holder HOST:PORT; tests/clients/recipes.sh calls it");
      System.exit(2);
    }
    Holder holder = new Holder(words[0]);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] question = line.split(" ");
      Thread thread = new Thread(() -> {
        String answer = holder.answer(Arrays.copyOfRange(question, 1, question.length));
        synchronized (System.out) {
          System.out.println(question[0] + ": " + answer);
          System.out.flush();
        }
      });
      thread.setDaemon(true);
      thread.start();
    }
    System.exit(0); // calls that wait go with it
  }
}
