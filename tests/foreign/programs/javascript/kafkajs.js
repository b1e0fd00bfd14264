// KafkaJS's registry client: registers, evolves, is refused, looks up, encodes and decodes.
'use strict';
const assert = require('node:assert/strict');
const { SchemaRegistry, SchemaType, COMPATIBILITY } = require('@kafkajs/confluent-schema-registry');

const [host] = process.argv.slice(2);
const id = { name: 'id', type: 'long' };
const note = { name: 'note', type: ['null', 'string'], default: null };
const record = (...fields) => ({ type: 'record', name: 'Order', namespace: 'acme', fields: [id, ...fields] });
const avro = (value, more = {}) => ({ type: SchemaType.AVRO, schema: JSON.stringify(value), ...more });
const client = () => new SchemaRegistry({ host, retry: { retries: 0 } });
const plain = (value) => JSON.parse(JSON.stringify(value));

async function main() {
  const registry = client();
  const subject = 't-value';
  const first = await registry.register(avro(record()), { subject });
  const old = await registry.encode(first.id, { id: 7 });
  const second = await registry.register(avro(record(note)), { subject });
  const noted = await registry.encode(second.id, { id: 7, note: 'x' });
  assert.equal((await registry.register(avro(record(note)), { subject })).id, second.id);

  const reader = client();
  assert.deepEqual(plain(await reader.decode(old)), { id: 7 });
  assert.equal((await reader.decode(noted)).id, 7);
  const evolved = await reader.decode(old, { [SchemaType.AVRO]: { readerSchema: record(note) } });
  assert.deepEqual(plain(evolved), { id: 7, note: null });

  const bad = avro(record({ name: 'total', type: 'double' }));
  await assert.rejects(registry.register(bad, { subject }), (error) => {
    assert.equal(error.status, 409);
    assert.match(error.message, /Schema being registered is incompatible with an earlier schema/);
    return true;
  });
  const other = { subject, compatibility: COMPATIBILITY.FULL };
  await assert.rejects(registry.register(avro(record()), other), /Compatibility does not match the configuration/);

  assert.equal(await registry.getLatestSchemaId(subject), second.id);
  assert.equal(await registry.getRegistryId(subject, 1), first.id);
  assert.equal(await registry.getRegistryIdBySchema(subject, avro(record())), first.id);
  await assert.rejects(registry.getLatestSchemaId('nobody'), /Subject 'nobody' not found\./);
  await assert.rejects(registry.getRegistryIdBySchema(subject, bad), /Schema not found/);

  const base = { type: 'record', name: 'Base', namespace: 'acme', fields: [] };
  await registry.register(avro(base), { subject: 'base' });
  const references = [{ name: 'acme.Base', subject: 'base', version: 1 }];
  const leaning = avro(record({ name: 'base', type: 'acme.Base' }), { references });
  const { id: leans } = await registry.register(leaning, { subject: 'leaning' });
  assert.equal((await client().decode(await registry.encode(leans, { id: 7, base: {} }))).id, 7);

  const json = { type: 'object', title: 'J', properties: { id: { type: 'integer' } } };
  const document = { type: SchemaType.JSON, schema: JSON.stringify(json) };
  const { id: documents } = await registry.register(document, { subject: 'json-value' });
  const data = await registry.encode(documents, { id: 7 });
  assert.deepEqual(await client().decode(data), { id: 7 });
  await assert.rejects(registry.encode(documents, { id: 'seven' }));

  const frames = { old: old.toString('hex'), noted: noted.toString('hex'), json: data.toString('hex') };
  console.log(JSON.stringify({ ...frames, registered: first }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
