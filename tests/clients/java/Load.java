// The steps that make many calls: so many at once, and in loops until the runner ends them.
import com.google.gson.Gson;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

// Of one call: the code's name, and the server's sentence or the message in JSON.
record Answer(String code, String text) {}

final class Load {
  private static final int LOOPS = 8;
  private static final int AFTER_FAILURE_MS = 20;
  private static final int UNDER_WAY = 50; // calls after which the runner is told that the load runs

  private final String name;
  private final Callable<CompletableFuture<Answer>> start;
  private final List<Long> revisions = new ArrayList<>(); // its monitor guards the three
  private final Map<String, Integer> failed = new HashMap<>();
  private final Map<String, Integer> texts = new HashMap<>();
  private volatile boolean told;
  private volatile Exception trouble;

  private Load(String name, Callable<CompletableFuture<Answer>> start) {
    this.name = name;
    this.start = start;
  }

  static Answer parallel(int count, Callable<CompletableFuture<Answer>> start) throws Exception {
    List<CompletableFuture<Answer>> open = new ArrayList<>();
    for (int i = 0; i < count; i++) open.add(start.call());
    for (CompletableFuture<Answer> each : open) {
      if (!each.get().code().equals("OK")) return each.get();
    }
    return new Answer("OK", "{\"answered\": " + open.size() + "}");
  }

  static Answer until(String name, Callable<CompletableFuture<Answer>> start) throws Exception {
    return new Load(name, start).untilTold();
  }

  private void add(Answer answer) {
    synchronized (revisions) {
      if (!answer.code().equals("OK")) {
        failed.merge(answer.code(), 1, Integer::sum);
        texts.merge(answer.text(), 1, Integer::sum);
        return;
      }
      var header = JsonParser.parseString(answer.text()).getAsJsonObject().getAsJsonObject("header");
      revisions.add(header.get("revision").getAsLong());
      if (revisions.size() == UNDER_WAY) Player.line(name, "GOING", "");
    }
  }

  private void loop() {
    try {
      while (!told) {
        Answer answer = start.call().get();
        add(answer);
        if (!answer.code().equals("OK")) Thread.sleep(AFTER_FAILURE_MS);
      }
    } catch (Exception error) {
      trouble = error;
    }
  }

  private Answer untilTold() throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < LOOPS; i++) threads.add(new Thread(this::loop));
    for (Thread each : threads) each.start();
    for (int read = System.in.read(); read != '\n' && read >= 0; read = System.in.read()) {}
    told = true;
    for (Thread each : threads) each.join();
    if (trouble != null) throw trouble;
    return new Answer("OK", new Gson().toJson(Map.of("completed", revisions.size(), "failed", failed, "texts", texts,
        "revisions", revisions)));
  }
}
