import { defineError } from '@terrane/core'

const schemaClosed = defineError(
  'SCHEMA_NOT_ALLOWED',
  'invalid',
  (f: { schema: string; open: readonly string[] }) => `Schema ${f.schema} is not open to this task`,
  (f) => ({
    hint: `Use one of: ${f.open.join(', ')}. The operator opens others by the setting worker.openSchemas.`,
    errors: [{ path: '/schema', message: `must be one of ${f.open.join(', ')}` }],
  }),
)

/** Schemas that all tasks may read; only embedding tasks write geoembeddings, whose tables are catalogued. */
const TO_READ = ['public', 'geoembeddings']
const TO_WRITE = ['public']

/** Refuses a schema that no task may read; the operator names `opened` ones. @throws SCHEMA_NOT_ALLOWED */
export function requireReadable(schema: string, opened: readonly string[]): void {
  requireOneOf(schema, [...TO_READ, ...opened])
}

/** Refuses a schema that a task may not put tables into. @throws SCHEMA_NOT_ALLOWED */
export function requireWritable(schema: string, opened: readonly string[]): void {
  requireOneOf(schema, [...TO_WRITE, ...opened])
}

function requireOneOf(schema: string, open: readonly string[]): void {
  if (!open.includes(schema)) throw schemaClosed({ schema, open })
}
