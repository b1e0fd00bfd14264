import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;

/** Random values of a schema; recursion comes to an end wherever the schema lets it. */
final class AvroData {
  static final Object NONE = new Object(); // the schema has no finite value
  private static final int DEEP = 6;
  private final Random random;

  AvroData(Random random) {
    this.random = random;
  }

  Object value(Schema schema) {
    return finite(schema, new HashSet<>()) ? value(schema, 0) : NONE;
  }

  private Object value(Schema schema, int depth) {
    return switch (schema.getType()) {
      case NULL -> null;
      case BOOLEAN -> random.nextBoolean();
      case INT -> random.nextInt();
      case LONG -> random.nextLong();
      case FLOAT -> random.nextFloat();
      case DOUBLE -> random.nextDouble();
      case STRING -> new String[] {"", "text", "é"}[random.nextInt(3)];
      case BYTES -> ByteBuffer.wrap(bytes(random.nextInt(3)));
      case FIXED -> new GenericData.Fixed(schema, bytes(schema.getFixedSize()));
      case ENUM -> new GenericData.EnumSymbol(
          schema, schema.getEnumSymbols().get(random.nextInt(schema.getEnumSymbols().size())));
      case ARRAY -> array(schema, depth);
      case MAP -> map(schema, depth);
      case UNION -> value(branch(schema, depth), depth + 1);
      case RECORD -> record(schema, depth);
    };
  }

  private Object array(Schema schema, int depth) {
    List<Object> items = new ArrayList<>();
    int length = depth > DEEP || !finite(schema.getElementType(), new HashSet<>()) ? 0 : 1 + random.nextInt(2);
    for (int index = 0; index < length; index++) {
      items.add(value(schema.getElementType(), depth + 1));
    }
    return new GenericData.Array<>(schema, items);
  }

  private Object map(Schema schema, int depth) {
    Map<String, Object> members = new HashMap<>();
    if (depth <= DEEP && finite(schema.getValueType(), new HashSet<>())) {
      members.put("k", value(schema.getValueType(), depth + 1));
    }
    return members;
  }

  private Object record(Schema schema, int depth) {
    GenericData.Record record = new GenericData.Record(schema);
    for (Schema.Field field : schema.getFields()) {
      record.put(field.pos(), value(field.schema(), depth + 1));
    }
    return record;
  }

  private Schema branch(Schema union, int depth) {
    List<Schema> finite = union.getTypes().stream().filter(one -> finite(one, new HashSet<>())).toList();
    if (depth <= DEEP) {
      return finite.get(random.nextInt(finite.size()));
    }
    return finite.stream().min((a, b) -> Integer.compare(height(a), height(b))).orElseThrow();
  }

  /** How many levels the smallest value has. */
  private static int height(Schema schema) {
    for (int height = 0; ; height++) {
      if (fits(schema, height)) {
        return height;
      }
    }
  }

  private static boolean fits(Schema schema, int height) {
    if (height < 0) {
      return false;
    }
    return switch (schema.getType()) {
      case UNION -> schema.getTypes().stream().anyMatch(one -> fits(one, height - 1));
      case RECORD -> schema.getFields().stream().allMatch(field -> fits(field.schema(), height - 1));
      default -> true;
    };
  }

  private static boolean finite(Schema schema, Set<String> open) {
    return switch (schema.getType()) {
      case ENUM -> !schema.getEnumSymbols().isEmpty();
      case UNION -> schema.getTypes().stream().anyMatch(one -> finite(one, open));
      case RECORD -> {
        if (!open.add(schema.getFullName())) {
          yield false;
        }
        boolean all = schema.getFields().stream().allMatch(field -> finite(field.schema(), open));
        open.remove(schema.getFullName());
        yield all;
      }
      default -> true;
    };
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    for (int index = 0; index < length; index++) {
      bytes[index] = (byte) ('a' + random.nextInt(26)); // so that a string can be read from them
    }
    return bytes;
  }
}
