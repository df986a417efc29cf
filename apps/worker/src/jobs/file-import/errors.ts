import { defineError } from '@terrane/core/errors'

export const fileMissing = defineError(
  'FILE_REQUIRED',
  'invalid',
  () => 'One of fileUrl and storagePath is needed',
  () => ({ errors: [{ path: '/fileUrl', message: 'exactly one of fileUrl and storagePath is needed' }] }),
)

export const nothingImported = defineError(
  'NOTHING_IMPORTED',
  'invalid',
  (f: { layer: string; rejected: number; reasons: readonly string[]; layers: readonly string[] }) =>
    f.rejected > 0
      ? `None of the ${f.rejected} features of layer ${f.layer} could be imported. ${f.reasons.join(' ')}`
      : `Layer ${f.layer} has no features`,
  (f) => (f.layers.length > 1 ? { hint: `Layers: ${f.layers.slice(0, 30).join(', ')}.` } : {}),
)

export const fieldsUnknown = defineError(
  'FIELDS_UNKNOWN',
  'invalid',
  (f: { fields: readonly string[] }) => `The layer has no fields ${f.fields.slice(0, 20).join(', ')}`,
  () => ({ errors: [{ path: '/fields', message: 'must be fields of the layer' }] }),
)

export const typesUnknown = defineError(
  'TYPES_UNKNOWN',
  'invalid',
  (f: { columns: readonly string[] }) =>
    `types names columns that the file does not have: ${f.columns.slice(0, 20).join(', ')}`,
  () => ({ errors: [{ path: '/types', message: 'must be columns of the file' }] }),
)

export const schemaNotFound = defineError(
  'SCHEMA_NOT_FOUND',
  'not_found',
  (f: { schema: string }) => `There is no schema ${f.schema} that tables can be imported into`,
)

export const targetMissing = defineError(
  'TABLE_NOT_FOUND',
  'not_found',
  (f: { schema: string; table: string }) => `There is no table ${f.schema}.${f.table} to add rows to`,
  () => ({ hint: 'Leave mode out to create it.' }),
)

export const columnsMissing = defineError(
  'COLUMNS_MISSING',
  'invalid',
  (f: { table: string; columns: readonly string[] }) =>
    `Table ${f.table} lacks columns of the file: ${f.columns.slice(0, 20).join(', ')}`,
  () => ({ hint: 'Name the fields to import in fields, or add the columns.' }),
)

export const appendFailed = defineError(
  'APPEND_FAILED',
  'invalid',
  (f: { table: string; reason: string }) => `The rows do not fit into ${f.table}: ${f.reason}`,
)
