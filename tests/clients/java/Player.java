// Plays a scenario's steps with grpc-java over Netty; messages are dynamic. tests/clients/run.sh calls it with
// HOST:PORT DESCRIPTORS STEPS.
import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.util.JsonFormat;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

public final class Player {
  private static final int CANCEL_AFTER_MS = 50;
  private static final int KEEP_ALIVE_S = 10; // the least that grpc-java allows

  private final ManagedChannel channel;
  private final Map<String, FileDescriptor> files;

  private Player(ManagedChannel channel, Map<String, FileDescriptor> files) {
    this.channel = channel;
    this.files = files;
  }

  private static Map<String, FileDescriptor> read(String path) throws Exception {
    Map<String, FileDescriptor> files = new HashMap<>();
    for (FileDescriptorProto each : FileDescriptorSet.parseFrom(Files.readAllBytes(Path.of(path))).getFileList()) {
      FileDescriptor[] needed = each.getDependencyList().stream().map(files::get).toArray(FileDescriptor[]::new);
      files.put(each.getName(), FileDescriptor.buildFrom(each, needed));
    }
    return files;
  }

  private MethodDescriptor method(String name) {
    String service = name.substring(0, name.indexOf('/'));
    String method = name.substring(name.indexOf('/') + 1);
    for (FileDescriptor file : files.values()) {
      for (var found : file.getServices()) {
        if (found.getFullName().equals(service)) return found.findMethodByName(method);
      }
    }
    throw new IllegalArgumentException(name + " is in no descriptor");
  }

  static void line(String name, String code, String text) {
    System.out.println(name + ": " + code + " " + text.replace('\n', ' '));
    System.out.flush();
  }

  private static int number(JsonObject step, String name) {
    return step.has(name) ? step.get(name).getAsInt() : 0;
  }

  private static Metadata metadata(JsonObject step) {
    Metadata headers = new Metadata();
    if (!step.has("Metadata")) return headers;
    for (Map.Entry<String, JsonElement> each : step.getAsJsonObject("Metadata").entrySet()) {
      String value = each.getValue().getAsString();
      if (each.getKey().endsWith("-bin")) {
        headers.put(Metadata.Key.of(each.getKey(), Metadata.BINARY_BYTE_MARSHALLER),
            value.getBytes(StandardCharsets.UTF_8));
      } else {
        headers.put(Metadata.Key.of(each.getKey(), Metadata.ASCII_STRING_MARSHALLER), value);
      }
    }
    return headers;
  }

  // A call that has been opened. The request has not left.
  private final class Open extends ClientCall.Listener<DynamicMessage> {
    final CompletableFuture<Answer> answer = new CompletableFuture<>();
    final ClientCall<DynamicMessage, DynamicMessage> call;
    private final DynamicMessage request;
    private DynamicMessage response;
    Metadata headers = new Metadata();
    Metadata trailers;

    Open(JsonObject step) throws Exception {
      MethodDescriptor method = method(step.get("Method").getAsString());
      DynamicMessage.Builder builder = DynamicMessage.newBuilder(method.getInputType());
      JsonFormat.parser().merge(step.get("Request").toString(), builder);
      request = builder.build();
      CallOptions options = CallOptions.DEFAULT;
      if (step.has("Gzip")) options = options.withCompression("gzip");
      int deadlineMs = number(step, "DeadlineMs");
      if (deadlineMs > 0) options = options.withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS);
      var described = io.grpc.MethodDescriptor.<DynamicMessage, DynamicMessage>newBuilder()
          .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
          .setFullMethodName(step.get("Path").getAsString().substring(1))
          .setRequestMarshaller(ProtoUtils.marshaller(DynamicMessage.getDefaultInstance(method.getInputType())))
          .setResponseMarshaller(ProtoUtils.marshaller(DynamicMessage.getDefaultInstance(method.getOutputType())))
          .build();
      call = channel.newCall(described, options);
      call.start(this, metadata(step));
      call.request(2);
    }

    Open send() {
      call.sendMessage(request);
      call.halfClose();
      return this;
    }

    @Override public void onHeaders(Metadata received) { headers = received; }

    @Override public void onMessage(DynamicMessage message) { response = message; }

    @Override public void onClose(Status status, Metadata received) {
      trailers = received;
      try {
        String text = status.isOk()
            ? JsonFormat.printer().preservingProtoFieldNames().omittingInsignificantWhitespace().print(response)
            : status.getDescription();
        answer.complete(new Answer(status.getCode().name(), text == null ? "" : text));
      } catch (Exception error) {
        answer.completeExceptionally(error);
      }
    }
  }

  private Answer cancel(JsonObject step) throws Exception {
    Open open = new Open(step);
    Thread.sleep(CANCEL_AFTER_MS);
    open.call.cancel("the scenario cancels it", null);
    return open.answer.get();
  }

  private Answer keepAlive(JsonObject step) throws Exception {
    Open open = new Open(step);
    Thread.sleep(number(step, "WaitMs"));
    return open.send().answer.get();
  }

  private Answer headers(JsonObject step) throws Exception {
    Open open = new Open(step).send();
    String code = open.answer.get().code();
    return new Answer("OK", new Gson().toJson(Map.of("code", code, "headers", new TreeSet<>(open.headers.keys()),
        "trailers", new TreeSet<>(open.trailers.keys()))));
  }

  private Answer play(Player pinging, JsonObject step) throws Exception {
    return switch (step.get("Do").getAsString()) {
      case "call" -> new Open(step).send().answer.get();
      case "deadline" -> new Open(step).answer.get();
      case "cancel" -> cancel(step);
      case "keepalive" -> pinging.keepAlive(step);
      case "parallel" -> Load.parallel(number(step, "Count"), () -> new Open(step).send().answer);
      case "until" -> Load.until(step.get("Step").getAsString(), () -> new Open(step).send().answer);
      case "headers" -> headers(step);
      default -> new Answer("SKIPPED", "");
    };
  }

  public static void main(String[] words) throws Exception {
    var files = read(words[1]);
    var player = new Player(NettyChannelBuilder.forTarget(words[0]).usePlaintext().build(), files);
    var pinging = new Player(NettyChannelBuilder.forTarget(words[0]).usePlaintext()
        .keepAliveTime(KEEP_ALIVE_S, TimeUnit.SECONDS).build(), files);
    for (JsonElement each : JsonParser.parseString(Files.readString(Path.of(words[2]))).getAsJsonArray()) {
      JsonObject step = each.getAsJsonObject();
      Answer answer = player.play(pinging, step);
      line(step.get("Step").getAsString(), answer.code(), answer.text());
    }
    System.exit(0); // both channels' threads go with it
  }
}
