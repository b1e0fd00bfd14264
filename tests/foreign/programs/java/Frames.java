// Flink's avro-confluent format: reads the frames of a file as records of a schema, and writes the records again.

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.formats.avro.registry.confluent.ConfluentRegistryAvroDeserializationSchema;
import org.apache.flink.formats.avro.registry.confluent.ConfluentRegistryAvroSerializationSchema;

public final class Frames {
    // A line of the file: subject, schema, frames in hex; with tabs between them.
    public static void main(String[] arguments) throws Exception {
        List<String> found = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments[1]))) {
            found.add(exchanged(arguments[0], line.split("\t")));
        }
        System.out.println("{\"found\":[" + String.join(",", found) + "]}");
    }

    private static String exchanged(String url, String[] parts) throws Exception {
        Schema schema = new Schema.Parser().parse(parts[1]);
        var reader = ConfluentRegistryAvroDeserializationSchema.forGeneric(schema, url);
        var writer = ConfluentRegistryAvroSerializationSchema.forGeneric(parts[0], schema, url);
        writer.open(null);
        List<String> written = new ArrayList<>();
        for (int place = 2; place < parts.length; place++) {
            GenericRecord record = reader.deserialize(HexFormat.of().parseHex(parts[place]));
            written.add("\"" + HexFormat.of().formatHex(writer.serialize(record)) + "\"");
        }
        return "[" + String.join(",", written) + "]";
    }
}
