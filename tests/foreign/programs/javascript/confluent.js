// Confluent's own JavaScript client: registers, evolves, is refused, looks up, serializes and reads back.
'use strict';
const assert = require('node:assert/strict');
const sr = require('@confluentinc/schemaregistry');

const [url, older] = process.argv.slice(2); // `older`: answers carry no guid, as before 8.0
const id = { name: 'id', type: 'long' };
const note = { name: 'note', type: ['null', 'string'], default: null };
const record = (...fields) => JSON.stringify({ type: 'record', name: 'Order', fields: [id, ...fields] });
const avro = (schema, more = {}) => ({ schemaType: 'AVRO', schema, ...more });
const client = () => new sr.SchemaRegistryClient({ baseURLs: [url], cacheCapacity: 100, maxRetries: 0 });
const refusal = (status, errorCode) => (error) => {
  assert.ok(error instanceof sr.RestError, String(error));
  assert.deepEqual([error.status, error.errorCode], [status, errorCode]);
  return true;
};
const plain = (value) => JSON.parse(JSON.stringify(value));

async function registersAndReads(registry) {
  const first = await registry.register('t-value', avro(record()), false);
  assert.equal(await registry.testSubjectCompatibility('t-value', avro(record(note))), true);
  const bad = avro(record({ name: 'total', type: 'double' }));
  assert.equal(await registry.testSubjectCompatibility('t-value', bad), false);
  assert.equal(await registry.testCompatibility('t-value', 1, bad), false);

  const latest = new sr.AvroSerializer(registry, sr.SerdeType.VALUE, { useLatestVersion: true });
  const old = await latest.serialize('t', { id: 7 });
  const full = await registry.registerFullResponse('t-value', avro(record(note)), false);
  await assert.rejects(registry.register('t-value', bad, false), refusal(409, 40901));
  registry.clearLatestCaches();
  const noted = await latest.serialize('t', { id: 7, note: 'x' });
  const empty = await latest.serialize('t', { id: 8, note: null });

  const reader = new sr.AvroDeserializer(client(), sr.SerdeType.VALUE, {});
  assert.deepEqual(plain(await reader.deserialize('t', old)), { id: 7 });
  assert.equal((await reader.deserialize('t', empty)).note, null);
  assert.equal((await reader.deserialize('t', noted)).id, 7);
  const evolving = new sr.AvroDeserializer(client(), sr.SerdeType.VALUE, { useLatestVersion: true });
  assert.equal((await evolving.deserialize('t', old)).note, null);

  const other = client();
  assert.equal((await other.getBySubjectAndId('t-value', first)).schema, record());
  if (older) assert.equal(full.guid, undefined);
  else assert.equal((await other.getByGuid(full.guid)).schema, record(note));
  assert.equal(await other.getId('t-value', avro(record()), false), first);
  assert.equal((await other.getIdFullResponse('t-value', avro(record(note)), false)).version, 2);
  assert.equal((await other.getLatestSchemaMetadata('t-value')).version, 2);
  assert.equal((await other.getSchemaMetadata('t-value', 1, false)).id, first);
  assert.deepEqual(await other.getAllVersions('t-value'), [1, 2]);
  assert.equal(await other.getVersion('t-value', avro(record()), false, false), 1);
  assert.deepEqual(await other.getAllSubjects(), ['t-value']);
  await assert.rejects(other.getLatestSchemaMetadata('nobody'), refusal(404, 40401));
  return { old: old.toString('hex'), noted: noted.toString('hex'), empty: empty.toString('hex') };
}

async function configures(registry) {
  await assert.rejects(registry.getCompatibility('t-value'), refusal(404, 40408));
  assert.equal(await registry.updateCompatibility('t-value', 'FULL'), 'FULL');
  assert.equal(await registry.getCompatibility('t-value'), 'FULL');
  assert.equal((await registry.updateConfig('t-value', { compatibility: 'FORWARD' })).compatibility, 'FORWARD');
  assert.equal((await registry.getConfig('t-value')).compatibilityLevel, 'FORWARD');
  assert.equal(await registry.getDefaultCompatibility(), 'BACKWARD');
  assert.equal(await registry.updateDefaultCompatibility('BACKWARD'), 'BACKWARD');
  assert.equal((await registry.getDefaultConfig()).compatibilityLevel, 'BACKWARD');
  assert.equal((await registry.updateDefaultConfig({ compatibility: 'BACKWARD' })).compatibility, 'BACKWARD');
}

async function followsRules(registry) {
  sr.CelExecutor.register();
  const rule = { name: 'named', kind: 'CONDITION', mode: 'WRITE', type: 'CEL', expr: "message.name != ''" };
  const schema = JSON.stringify({ type: 'record', name: 'Named', fields: [{ name: 'name', type: 'string' }] });
  const metadata = { properties: { owner: 'a/b' } };
  await registry.register('rules-value', avro(schema, { metadata, ruleSet: { domainRules: [rule] } }), false);
  assert.equal((await client().getLatestWithMetadata('rules-value', { owner: 'a/b' }, false)).version, 1);
  const serializer = new sr.AvroSerializer(registry, sr.SerdeType.VALUE, { useLatestVersion: true });
  await serializer.serialize('rules', { name: 'x' });
  await assert.rejects(serializer.serialize('rules', { name: '' }), /named/);
}

async function writesJson(registry) {
  const either = { oneOf: [{ type: 'null' }, { type: 'string' }] };
  const schema = JSON.stringify({ type: 'object', title: 'J', properties: { note: either } });
  await registry.register('json-value', { schemaType: 'JSON', schema }, false);
  const serializer = new sr.JsonSerializer(registry, sr.SerdeType.VALUE, { useLatestVersion: true, validate: true });
  const data = await serializer.serialize('json', { note: 'x' });
  await assert.rejects(serializer.serialize('json', { note: 5 }));
  const deserializer = new sr.JsonDeserializer(client(), sr.SerdeType.VALUE, {});
  assert.deepEqual(await deserializer.deserialize('json', data), { note: 'x' });
}

async function writesIdsInHeaders(registry) {
  const conf = { useLatestVersion: true, schemaIdSerializer: sr.HeaderSchemaIdSerializer };
  const headers = {};
  const serializer = new sr.AvroSerializer(registry, sr.SerdeType.VALUE, conf);
  const data = await serializer.serialize('t', { id: 9, note: null }, headers);
  const guid = headers.__value_schema_id;
  assert.deepEqual([guid[0], guid.length], [1, 17]);
  const read = await new sr.AvroDeserializer(client(), sr.SerdeType.VALUE, {}).deserialize('t', data, headers);
  assert.equal(read.id, 9);
}

async function binds(registry) {
  const association = { associationType: 'value', schema: avro(record()) };
  const resource = { resourceName: 'bound', resourceNamespace: 'lkc-1', resourceId: 'id-of-bound' };
  await registry.createAssociation({ ...resource, resourceType: 'topic', associations: [association] });
  const ask = () => registry.getAssociationsByResourceName('bound', 'lkc-1', 'topic', ['value'], null, 0, -1);
  assert.equal((await ask())[0].subject, ':.lkc-1:bound-value');
  await registry.deleteAssociations('id-of-bound', 'topic', ['value'], true);
  assert.deepEqual(await ask(), []);
}

async function deletes(registry) {
  assert.equal(await registry.deleteSubjectVersion('t-value', 1, false), 1);
  assert.equal(await registry.deleteSubjectVersion('t-value', 1, true), 1);
  assert.deepEqual(await registry.deleteSubject('t-value', false), [2]);
  assert.deepEqual(await registry.deleteSubject('t-value', true), [2]);
  await assert.rejects(client().getAllVersions('t-value'), refusal(404, 40401));
}

async function main() {
  const registry = client();
  const frames = await registersAndReads(registry);
  if (!older) await writesIdsInHeaders(registry);
  await configures(registry);
  await followsRules(registry);
  await writesJson(registry);
  await binds(registry);
  await deletes(registry);
  console.log(JSON.stringify(frames));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
