import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.CompatibilityChecker;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.avro.AvroSchema;

/** Confluent's own messages: one JSON request a line, one JSON answer a line. */
public final class ConfluentOracle {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    System.setOut(System.err); // whatever a library prints is no answer
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
    BufferedWriter out = new BufferedWriter(new OutputStreamWriter(answers, StandardCharsets.UTF_8), 1 << 16);
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      if (line.isEmpty()) { // the end of a batch
        out.flush();
        answers.flush();
        continue;
      }
      out.write(JSON.writeValueAsString(answer(JSON.readTree(line))));
      out.write('\n');
    }
    out.flush();
    answers.flush();
  }

  private static ObjectNode answer(JsonNode request) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      if (request.get("op").asText().equals("normalize")) {
        AvroSchema schema = schema(request.get("schema"));
        answer.put("canonical", schema.canonicalString());
        answer.put("normalized", schema.normalize().canonicalString());
        return answer;
      }
      AvroSchema candidate = schema(request.get("candidate"));
      AvroSchema earlier = schema(request.get("earlier"));
      var messages = answer.putArray("messages");
      checker(request.get("level").asText()).isCompatible(candidate, List.of(earlier)).forEach(messages::add);
    } catch (Exception | StackOverflowError problem) {
      answer.put("error", String.valueOf(problem));
    }
    return answer;
  }

  private static CompatibilityChecker checker(String level) {
    return switch (level) {
      case "BACKWARD" -> CompatibilityChecker.BACKWARD_CHECKER;
      case "FORWARD" -> CompatibilityChecker.FORWARD_CHECKER;
      default -> CompatibilityChecker.FULL_CHECKER;
    };
  }

  private static AvroSchema schema(JsonNode texts) {
    Map<String, String> leanedOn = new LinkedHashMap<>();
    for (int index = 0; index < texts.size() - 1; index++) {
      leanedOn.put("r" + index, texts.get(index).asText());
    }
    return new AvroSchema(texts.get(texts.size() - 1).asText(), List.of(), leanedOn, null, false);
  }
}
