import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Conversion;
import org.apache.avro.Conversions;
import org.apache.avro.Schema;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;

/**
 * Values as JSON that loses nothing: floats by their bits, bytes in hex, a union's value with its branch, and what
 * logical types make of raw values by its kind.
 */
final class AvroValues {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final BigInteger BILLION = BigInteger.valueOf(1_000_000_000);

  private AvroValues() {}

  /** A model that makes what logical types stand for. */
  static GenericData converting() {
    GenericData model = new GenericData();
    List<Conversion<?>> conversions = List.of(
        new Conversions.DecimalConversion(), new Conversions.UUIDConversion(), new TimeConversions.DateConversion(),
        new TimeConversions.TimeMillisConversion(), new TimeConversions.TimeMicrosConversion(),
        new TimeConversions.TimestampMillisConversion(), new TimeConversions.TimestampMicrosConversion(),
        new TimeConversions.TimestampNanosConversion(), new TimeConversions.LocalTimestampMillisConversion(),
        new TimeConversions.LocalTimestampMicrosConversion(), new TimeConversions.LocalTimestampNanosConversion());
    conversions.forEach(model::addLogicalTypeConversion);
    return model;
  }

  static JsonNode told(Object value) {
    if (value == null) {
      return JSON.nullNode();
    } else if (value instanceof Boolean truth) {
      return JSON.booleanNode(truth);
    } else if (value instanceof Integer || value instanceof Long) {
      return JSON.numberNode(((Number) value).longValue());
    } else if (value instanceof Float || value instanceof Double) {
      return one("f", Long.toString(Double.doubleToLongBits(((Number) value).doubleValue())));
    } else if (value instanceof ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.duplicate().get(copy);
      return one("b", HexFormat.of().formatHex(copy));
    } else if (value instanceof GenericFixed fixed) {
      return one("b", HexFormat.of().formatHex(fixed.bytes()));
    } else if (value instanceof Collection<?> items) {
      ArrayNode list = JSON.arrayNode();
      items.forEach(item -> list.add(told(item)));
      return list;
    } else if (value instanceof Map<?, ?> entries) {
      ObjectNode members = JSON.objectNode();
      entries.forEach((key, entry) -> members.set(key.toString(), told(entry)));
      return JSON.objectNode().set("o", members);
    } else if (value instanceof IndexedRecord record) {
      ObjectNode members = JSON.objectNode();
      record.getSchema().getFields().forEach(field -> members.set(field.name(), told(record.get(field.pos()))));
      return JSON.objectNode().set("o", members);
    }
    return logical(value);
  }

  private static JsonNode logical(Object value) {
    if (value instanceof BigDecimal number) {
      return one("decimal", number.unscaledValue() + " " + number.scale());
    } else if (value instanceof UUID uuid) {
      return one("uuid", uuid.toString());
    } else if (value instanceof LocalDate day) {
      return one("date", Long.toString(day.toEpochDay()));
    } else if (value instanceof LocalTime time) {
      return one("time", Long.toString(time.toNanoOfDay()));
    } else if (value instanceof Instant instant) {
      return one("instant", nanos(instant));
    } else if (value instanceof LocalDateTime moment) {
      return one("local", nanos(moment.toInstant(ZoneOffset.UTC)));
    }
    return JSON.textNode(value.toString()); // strings and symbols
  }

  private static String nanos(Instant instant) {
    return BigInteger.valueOf(instant.getEpochSecond()).multiply(BILLION)
        .add(BigInteger.valueOf(instant.getNano())).toString();
  }

  private static ObjectNode one(String kind, String text) {
    return JSON.objectNode().put(kind, text);
  }

  /** The raw value that was told; a union's is {@code {"u": [branch, value]}}. */
  static Object value(Schema schema, JsonNode told) {
    return switch (schema.getType()) {
      case NULL -> null;
      case BOOLEAN -> told.booleanValue();
      case INT -> told.intValue();
      case LONG -> told.longValue();
      case FLOAT -> (float) Double.longBitsToDouble(Long.parseLong(told.get("f").asText()));
      case DOUBLE -> Double.longBitsToDouble(Long.parseLong(told.get("f").asText()));
      case STRING -> told.asText();
      case BYTES -> ByteBuffer.wrap(HexFormat.of().parseHex(told.get("b").asText()));
      case FIXED -> new GenericData.Fixed(schema, HexFormat.of().parseHex(told.get("b").asText()));
      case ENUM -> new GenericData.EnumSymbol(schema, told.asText());
      case ARRAY -> {
        List<Object> items = new ArrayList<>();
        told.forEach(item -> items.add(value(schema.getElementType(), item)));
        yield items;
      }
      case MAP -> {
        Map<String, Object> entries = new LinkedHashMap<>();
        told.get("o").properties().forEach(
            entry -> entries.put(entry.getKey(), value(schema.getValueType(), entry.getValue())));
        yield entries;
      }
      case UNION -> new Branch(told.get("u").get(0).intValue(),
          value(schema.getTypes().get(told.get("u").get(0).intValue()), told.get("u").get(1)));
      case RECORD -> {
        GenericData.Record record = new GenericData.Record(schema);
        schema.getFields().forEach(
            field -> record.put(field.pos(), value(field.schema(), told.get("o").get(field.name()))));
        yield record;
      }
    };
  }

  /** A union's value that says its branch, so that nothing has to be guessed. */
  record Branch(int index, Object value) {}
}
