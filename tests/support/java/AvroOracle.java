import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.avro.NameValidator;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/**
 * Java Avro as a judge: one JSON request a line, one JSON answer a line.
 *
 * <p>A schema is a list of texts, of which each leans on those before it.
 */
public final class AvroOracle {
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
      switch (request.get("op").asText()) {
        case "parse" -> parse(request, answer);
        case "compare" -> compare(request, answer);
        case "decode" -> decode(request, answer);
        case "write" -> AvroFates.write(request, schema(request.get("writer"), false), answer);
        case "fates" -> AvroFates.judge(request, schema(request.get("writer"), false),
            request.has("reader") ? schema(request.get("reader"), false) : null, answer);
        default -> throw new IllegalArgumentException("no such op");
      }
    } catch (Exception | StackOverflowError problem) {
      answer.put("error", String.valueOf(problem));
    }
    return answer;
  }

  private static void parse(JsonNode request, ObjectNode answer) throws Exception {
    Schema schema = schema(request.get("schema"), request.path("strict").asBoolean(true));
    answer.put("canonical", schema.toString());
    answer.put("parsing", SchemaNormalization.toParsingForm(schema));
    answer.put("crc", SchemaNormalization.parsingFingerprint64(schema));
    answer.put("md5", hex(SchemaNormalization.parsingFingerprint("MD5", schema)));
    answer.put("sha256", hex(SchemaNormalization.parsingFingerprint("SHA-256", schema)));
  }

  private static void compare(JsonNode request, ObjectNode answer) {
    Schema reader = schema(request.get("reader"), false);
    Schema writer = schema(request.get("writer"), false);
    ArrayNode findings = answer.putArray("findings");
    var result = SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult();
    result.getIncompatibilities().forEach(one ->
        findings.addArray().add(one.getType().toString()).add(one.getLocation()).add(one.getMessage()));
  }

  private static void decode(JsonNode request, ObjectNode answer) throws Exception {
    Schema reader = schema(request.get("reader"), false);
    Schema writer = schema(request.get("writer"), false);
    var writes = new GenericDatumWriter<Object>(writer);
    var reads = new GenericDatumReader<Object>(writer, reader);
    var data = new AvroData(new Random(request.get("seed").asLong()));
    int times = 0;
    for (int left = request.get("count").asInt(); left > 0; left--) {
      var bytes = new ByteArrayOutputStream();
      Object value = data.value(writer);
      if (value == AvroData.NONE) {
        break;
      }
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
      writes.write(value, encoder);
      encoder.flush();
      BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(bytes.toByteArray(), null);
      try {
        reads.read(null, decoder);
      } catch (Exception problem) {
        answer.put("value", String.valueOf(value));
        throw problem;
      }
      if (!decoder.isEnd()) {
        throw new IllegalStateException("bytes are left over");
      }
      times++;
    }
    answer.put("read", times);
  }

  private static Schema schema(JsonNode texts, boolean strict) {
    Schema.Parser parser = new Schema.Parser(strict ? NameValidator.STRICT_VALIDATOR : NameValidator.UTF_VALIDATOR);
    Schema last = null;
    for (int index = 0; index < texts.size(); index++) {
      parser.setValidateDefaults(strict && index == texts.size() - 1); // what is leaned on is stored already
      last = parser.parse(texts.get(index).asText());
    }
    return last;
  }

  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte one : bytes) {
      text.append(String.format("%02x", one));
    }
    return text.toString();
  }
}
