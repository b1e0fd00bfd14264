// Confluent's own Java client, as Flink carries it: registers, evolves, is refused, looks up, and Flink's coder
// writes and reads frames.

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.avro.AvroSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.SchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.SchemaReference;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericData;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumReader;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumWriter;
import org.apache.flink.avro.shaded.org.apache.avro.io.DecoderFactory;
import org.apache.flink.avro.shaded.org.apache.avro.io.EncoderFactory;
import org.apache.flink.formats.avro.registry.confluent.ConfluentSchemaRegistryCoder;

public final class Client {
    private static final String ID = "{\"name\":\"id\",\"type\":\"long\"}";
    private static final String NOTE = ",{\"name\":\"note\",\"type\":[\"null\",\"string\"],\"default\":null}";
    private static final AvroSchema ONE = record(ID);
    private static final AvroSchema TWO = record(ID + NOTE);
    private static final AvroSchema BAD = record(ID + ",{\"name\":\"total\",\"type\":\"double\"}");

    private interface Call {
        Object make() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        SchemaRegistryClient client = client(url);
        registersAndReads(client, client(url));
        String written = codes(client, client(url));
        configures(client);
        deletes(client);
        System.out.println("{\"written\":\"" + written + "\"}");
    }

    private static void registersAndReads(SchemaRegistryClient client, SchemaRegistryClient other) throws Exception {
        same(1, client.register("t-value", ONE));
        same(1, client.register("t-value", ONE));
        same(true, client.testCompatibility("t-value", TWO));
        same(false, client.testCompatibility("t-value", BAD));
        same(true, client.testCompatibilityVerbose("t-value", BAD).toString().contains("READER_FIELD_MISSING_DEFAULT_VALUE"));
        same(2, client.register("t-value", TWO, true));
        refused(409, 40901, () -> client.register("t-value", BAD));

        same(ONE, other.getSchemaById(1));
        same(TWO, other.getSchemaBySubjectAndId("t-value", 2));
        same(1, other.getId("t-value", ONE));
        same(2, other.getVersion("t-value", TWO));
        same(2, other.getLatestSchemaMetadata("t-value").getVersion());
        same(1, other.getSchemaMetadata("t-value", 1).getId());
        same(List.of(1, 2), other.getAllVersions("t-value"));
        same(List.of("t-value"), List.copyOf(other.getAllSubjects()));
        same(List.of("t-value"), List.copyOf(other.getAllSubjectsByPrefix("t-")));
        same(List.of("t-value"), List.copyOf(other.getAllSubjectsById(1)));
        same(1, other.getAllVersionsById(1).size());
        same(2, other.getSchemas("t-", false, false).size());
        refused(404, 40401, () -> other.getLatestSchemaMetadata("nobody"));
        refused(404, 40403, () -> other.getId("t-value", BAD));
        refused(404, 40403, () -> other.getSchemaById(99));

        other.register("base", new AvroSchema("{\"type\":\"record\",\"name\":\"Base\",\"fields\":[]}"));
        List<SchemaReference> references = List.of(new SchemaReference("Base", "base", 1));
        String text = "{\"type\":\"record\",\"name\":\"Leaning\",\"fields\":[{\"name\":\"b\",\"type\":\"Base\"}]}";
        AvroSchema leaning = (AvroSchema) other.parseSchema("AVRO", text, references).orElseThrow();
        int id = other.register("leaning", leaning);
        AvroSchema read = (AvroSchema) client.getSchemaById(id);
        same("Base", read.rawSchema().getField("b").schema().getName());
    }

    private static String codes(SchemaRegistryClient client, SchemaRegistryClient other) throws Exception {
        GenericData.Record order = new GenericData.Record(ONE.rawSchema());
        order.put("id", 7L);
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        new ConfluentSchemaRegistryCoder("flink-value", client).writeSchema(ONE.rawSchema(), frame);
        var encoder = EncoderFactory.get().binaryEncoder(frame, null);
        new GenericDatumWriter<GenericData.Record>(ONE.rawSchema()).write(order, encoder);
        encoder.flush();

        var input = new ByteArrayInputStream(frame.toByteArray());
        Schema writer = new ConfluentSchemaRegistryCoder("flink-value", other).readSchema(input);
        var reader = new GenericDatumReader<GenericData.Record>(writer, TWO.rawSchema());
        GenericData.Record read = reader.read(null, DecoderFactory.get().binaryDecoder(input, null));
        same(7L, read.get("id"));
        same(null, read.get("note"));
        return HexFormat.of().formatHex(frame.toByteArray());
    }

    private static void configures(SchemaRegistryClient client) throws Exception {
        refused(404, 40408, () -> client.getCompatibility("t-value"));
        same("FULL", client.updateCompatibility("t-value", "FULL"));
        same("FULL", client.getCompatibility("t-value"));
        same("FULL", client.getConfig("t-value").getCompatibilityLevel());
        client.deleteConfig("t-value");
        same("BACKWARD", client.getCompatibility(null));
        same("READWRITE", client.getMode());
        same("READONLY", client.setMode("READONLY", "t-value"));
        same("READONLY", client.getMode("t-value"));
        refused(422, 42205, () -> client.register("t-value", record(ID + NOTE.replace("note", "more"))));
        client.deleteMode("t-value");
        refused(404, 40409, () -> client.getMode("t-value"));
        refused(404, 40403, () -> client.getLatestWithMetadata("t-value", Map.of("owner", "nobody"), false));
    }

    private static void deletes(SchemaRegistryClient client) throws Exception {
        same(1, client.deleteSchemaVersion("t-value", "1"));
        same(List.of(2), client.getAllVersions("t-value"));
        same(List.of(1, 2), client.getAllVersions("t-value", true));
        same(1, client.deleteSchemaVersion("t-value", "1", true));
        same(List.of(2), client.deleteSubject("t-value"));
        same(List.of(2), client.deleteSubject("t-value", true));
        refused(404, 40401, () -> client.getAllVersions("t-value"));
    }

    private static SchemaRegistryClient client(String url) {
        return new CachedSchemaRegistryClient(url, 100);
    }

    private static AvroSchema record(String fields) {
        return new AvroSchema("{\"type\":\"record\",\"name\":\"Order\",\"fields\":[" + fields + "]}");
    }

    private static void same(Object expected, Object found) {
        if (!java.util.Objects.equals(expected, found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    private static void refused(int status, int code, Call call) throws Exception {
        try {
            throw new AssertionError("not refused: " + call.make());
        } catch (RestClientException refusal) {
            same(List.of(status, code), List.of(refusal.getStatus(), refusal.getErrorCode()));
        }
    }
}
