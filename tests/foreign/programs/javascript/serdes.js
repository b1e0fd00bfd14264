// Confluent's own JavaScript serializers: reads the frames of a file of cases, and writes the same values.
'use strict';
const fs = require('node:fs');
const sr = require('@confluentinc/schemaregistry');

const [url, file] = process.argv.slice(2);
const client = new sr.SchemaRegistryClient({ baseURLs: [url], cacheCapacity: 100, maxRetries: 0 });
const kinds = { AVRO: [sr.AvroSerializer, sr.AvroDeserializer], JSON: [sr.JsonSerializer, sr.JsonDeserializer] };

const bytes = (hex) => Buffer.from(hex, 'hex');
const decoded = (headers) =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, bytes(value)]));
const encoded = (headers) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('hex')]));

// Each case: topic, key (whether it is a key), type, frames [{ data, headers }], latest, values, inHeader.
async function exchanged({ topic, key, type, frames, latest, values, inHeader }) {
  const part = key ? sr.SerdeType.KEY : sr.SerdeType.VALUE;
  const [Serializer, Deserializer] = kinds[type];
  const deserializer = new Deserializer(client, part, latest ? { useLatestVersion: true } : {});
  const read = [];
  for (const { data, headers } of frames) {
    read.push(await deserializer.deserialize(topic, bytes(data), decoded(headers)));
  }
  const conf = { useLatestVersion: true, ...(type === 'JSON' ? { validate: true } : {}) };
  if (inHeader) conf.schemaIdSerializer = sr.HeaderSchemaIdSerializer;
  const serializer = new Serializer(client, part, conf);
  const written = [];
  for (const value of values) {
    const headers = {};
    const data = await serializer.serialize(topic, value, headers);
    written.push({ data: data.toString('hex'), headers: encoded(headers) });
  }
  return { read, written };
}

async function main() {
  const found = [];
  for (const one of JSON.parse(fs.readFileSync(file, 'utf-8'))) found.push(await exchanged(one));
  console.log(JSON.stringify({ found }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
