import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.Encoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.ResolvingDecoder;

/**
 * What becomes of a record's bytes: whether Java reads them as written, how far it comes, which of our written rules
 * they break where Java is laxer, and what another schema makes of them.
 */
final class AvroFates {
  private static final Pattern UUID = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
  private final boolean resolves;
  private final WatchedReader asWritten;
  private final WatchedReader asWanted;

  AvroFates(Schema writer, Schema reader) {
    resolves = reader != null;
    asWritten = new WatchedReader(writer, writer, new GenericData());
    asWanted = new WatchedReader(writer, resolves ? reader : writer, AvroValues.converting());
  }

  /** Appends {@code [error or null, position, broken rules, error or null of the reader, its value or null]}. */
  void judge(byte[] body, boolean withValue, ArrayNode fates) {
    WatchedDecoder decoder = new WatchedDecoder(body, asWritten.broken);
    ArrayNode fate = fates.addArray();
    String problem = null;
    try {
      asWritten.begin(decoder);
      asWritten.read(null, decoder);
    } catch (Exception | StackOverflowError | OutOfMemoryError error) {
      problem = String.valueOf(error);
    }
    Set<String> broken = new TreeSet<>(asWritten.broken);
    if (problem == null && decoder.position() < body.length) {
      broken.add("TRAILING_BYTES");
    }
    JsonNode mismatch = NullNode.instance;
    JsonNode value = NullNode.instance;
    if (problem == null && (withValue || resolves)) {
      try {
        asWanted.begin(null);
        Object read = asWanted.read(null, DecoderFactory.get().binaryDecoder(body, null));
        value = withValue ? AvroValues.told(read) : value;
      } catch (Exception | StackOverflowError | OutOfMemoryError error) {
        mismatch = TextNode.valueOf(String.valueOf(error));
      }
      if (resolves) { // what logical types stand for is the reader's to say
        broken.remove("LOGICAL_TYPE");
        broken.addAll(asWanted.broken);
      }
    }
    fate.add(problem).add(decoder.position());
    ArrayNode rules = fate.addArray();
    broken.forEach(rules::add);
    fate.add(mismatch).add(value);
  }

  static void judge(JsonNode request, Schema writer, Schema reader, ObjectNode answer) {
    AvroFates fates = new AvroFates(writer, reader);
    ArrayNode told = answer.putArray("fates");
    boolean withValue = request.path("values").asBoolean(true);
    for (JsonNode body : request.get("bodies")) {
      fates.judge(HexFormat.of().parseHex(body.asText()), withValue, told);
    }
  }

  /** Write values that are told with their branches. */
  static void write(JsonNode request, Schema writer, ObjectNode answer) throws IOException {
    ArrayNode bodies = answer.putArray("bodies");
    for (JsonNode told : request.get("values")) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
      new BranchWriter(writer).write(AvroValues.value(writer, told), encoder);
      encoder.flush();
      bodies.add(HexFormat.of().formatHex(bytes.toByteArray()));
    }
  }

  /** A writer to which each union's value says its branch. */
  private static final class BranchWriter extends GenericDatumWriter<Object> {
    BranchWriter(Schema schema) {
      super(schema, new GenericData());
    }

    @Override
    protected void writeWithoutConversion(Schema schema, Object datum, Encoder out) throws IOException {
      if (datum instanceof AvroValues.Branch branch) {
        out.writeIndex(branch.index());
        write(schema.getTypes().get(branch.index()), branch.value(), out);
      } else {
        super.writeWithoutConversion(schema, datum, out);
      }
    }
  }

  /** A reader that notes which rules of depth and of logical types are broken, in whatever is read and kept or not. */
  private static final class WatchedReader extends GenericDatumReader<Object> {
    private static final int DEEPEST = 128;
    final Set<String> broken = new TreeSet<>();
    private int depth;
    private WatchedDecoder bytes;

    WatchedReader(Schema writer, Schema reader, GenericData model) {
      super(writer, reader, plain(model));
    }

    private static GenericData plain(GenericData model) {
      model.setFastReaderEnabled(false);
      return model;
    }

    void begin(WatchedDecoder decoder) {
      broken.clear();
      depth = 0;
      bytes = decoder;
    }

    @Override
    protected Object readArray(Object old, Schema expected, ResolvingDecoder in) throws IOException {
      if (bytes == null) {
        return super.readArray(old, expected, in);
      }
      Schema item = expected.getElementType();
      bytes.items.push(takesNoBytes(item) ? cost(item) : 0L);
      Object items = super.readArray(old, expected, in);
      bytes.items.pop();
      return items;
    }

    @Override
    protected Object readMap(Object old, Schema expected, ResolvingDecoder in) throws IOException {
      if (bytes == null) {
        return super.readMap(old, expected, in);
      }
      bytes.items.push(0L);
      Object entries = super.readMap(old, expected, in);
      bytes.items.pop();
      return entries;
    }

    /** What a value of no bytes counts for: a record takes room for itself and for its fields. */
    private static long cost(Schema schema) {
      return schema.getType() == Schema.Type.RECORD
          ? 10 + schema.getFields().stream().mapToLong(field -> cost(field.schema())).sum()
          : 1;
    }

    private static boolean takesNoBytes(Schema schema) {
      return switch (schema.getType()) {
        case NULL -> true;
        case FIXED -> schema.getFixedSize() == 0;
        case RECORD -> schema.getFields().stream().allMatch(field -> takesNoBytes(field.schema()));
        default -> false;
      };
    }

    @Override
    protected Object readWithoutConversion(Object old, Schema schema, ResolvingDecoder in) throws IOException {
      boolean opens = switch (schema.getType()) {
        case RECORD, ARRAY, MAP -> true;
        default -> false;
      };
      depth += opens ? 1 : 0;
      if (depth > DEEPEST) {
        broken.add("TOO_DEEP");
      }
      Object value = super.readWithoutConversion(old, schema, in);
      depth -= opens ? 1 : 0;
      if (schema.getLogicalType() != null && !keeps(schema.getLogicalType(), value)) {
        broken.add("LOGICAL_TYPE");
      }
      return value;
    }

    private static boolean keeps(LogicalType type, Object value) {
      if (type instanceof LogicalTypes.Decimal decimal) {
        byte[] bytes = value instanceof GenericFixed fixed ? fixed.bytes() : bytes((ByteBuffer) value);
        return bytes.length > 0
            && new BigInteger(bytes).abs().compareTo(BigInteger.TEN.pow(decimal.getPrecision())) < 0;
      }
      return switch (type.getName()) {
        case "uuid" -> value instanceof GenericFixed || UUID.matcher(value.toString()).matches();
        case "time-millis" -> (Integer) value >= 0 && (Integer) value < 86_400_000;
        case "time-micros" -> (Long) value >= 0 && (Long) value < 86_400_000_000L;
        default -> true;
      };
    }

    private static byte[] bytes(ByteBuffer buffer) {
      byte[] copy = new byte[buffer.remaining()];
      buffer.duplicate().get(copy);
      return copy;
    }
  }
}
