import { fieldsUnknown, typesUnknown } from './errors.ts'
import type { Field, FieldType, LayerSchema } from '@terrane/files'

const LONGEST_NAME = 63
const KEY_NAMES = ['id', 'fid', 'ogc_fid']
/** Every table of PostgreSQL has columns of these names already. */
const SYSTEM_COLUMNS = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']

/** A column of the new table. */
export interface TargetColumn {
  /** Number of the field in the layer. */
  readonly field: number
  readonly target: string
  readonly type: FieldType
}

/**
 * Names of the key and of the columns: different from each other, in lower case, and of 63 bytes at most.
 *
 * @param wanted fields to take; null for all
 * @throws FIELDS_UNKNOWN
 */
export function keyAndColumns(
  fields: readonly Field[],
  wanted: readonly string[] | null,
): { readonly key: string; readonly columns: readonly TargetColumn[] } {
  const names = new Set(fields.map(({ name }) => laundered(name)))
  const chosen = wanted && new Set(wanted.map(laundered))
  const unknown = wanted?.filter((field) => !names.has(laundered(field))) ?? []
  if (unknown.length > 0) throw fieldsUnknown({ fields: unknown })
  const key = KEY_NAMES.find((name) => !names.has(name)) ?? unused('id', names)
  const taken = new Set([key, 'geom', ...SYSTEM_COLUMNS])
  const columns: TargetColumn[] = []
  for (const [field, { name, type }] of fields.entries()) {
    const plain = laundered(name)
    if (chosen && !chosen.has(plain)) continue
    const target = unused(plain || 'field', taken)
    taken.add(target)
    columns.push({ field, target, type })
  }
  return { key, columns }
}

/** Refuses column types for fields that no layer has. @throws TYPES_UNKNOWN */
export function checkTypes(
  types: Readonly<Record<string, FieldType>> | undefined,
  layers: readonly LayerSchema[],
): void {
  const names = new Set(layers.flatMap(({ fields }) => fields.map(({ name }) => name.toLowerCase())))
  const unknown = Object.keys(types ?? {}).filter((name) => !names.has(name.toLowerCase()))
  if (unknown.length > 0) throw typesUnknown({ columns: unknown })
}

/** A field's name in the form that ogr2ogr gives it for PostgreSQL. */
function laundered(field: string): string {
  return field.toLowerCase().replaceAll(/[-#]/g, '_').replaceAll('\0', '')
}

function unused(name: string, taken: ReadonlySet<string>): string {
  let candidate = shortened(name, '')
  for (let i = 1; taken.has(candidate); i++) candidate = shortened(name, `_${i}`)
  return candidate
}

function shortened(name: string, suffix: string): string {
  let base = name
  while (Buffer.byteLength(base) + suffix.length > LONGEST_NAME) base = base.slice(0, -1)
  return base + suffix
}
