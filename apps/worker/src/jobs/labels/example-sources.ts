import type { TrainClassifier } from '@terrane/contracts/labels'
import { hasNumericPositions } from '@terrane/core/positions'
import type { Warnings } from '@terrane/core/errors'
import { qualified, quoteIdentifier, type Database } from '@terrane/database'
import { chooseGeometry, readTable } from '@terrane/database/scan'
import { columnUnknown, examplesInvalid, featuresInvalid, geometryMissing } from './errors.ts'

/** Examples as SQL. */
export interface Source {
  /** SQL of a table `e` with `c`, the class, and `g`, the geometry in EPSG:4326. */
  readonly sql: string
  readonly values: readonly unknown[]
  /** Makes the error for examples that the server cannot read. */
  readonly toError: (why: string, cause: unknown) => Error
}

/** Examples of a table, after a check that its columns exist. @throws NO_GEOMETRY_COLUMN, COLUMN_MISSING */
export async function tableSource(
  database: Database,
  { schema = 'public', table, column }: NonNullable<TrainClassifier['examples']>,
): Promise<Source> {
  const { columns } = await readTable(database, schema, table)
  const geometry = chooseGeometry(columns)
  if (!geometry) throw geometryMissing({ table })
  if (!columns.some(({ name }) => name === column)) {
    throw columnUnknown({ table, column, columns: columns.map(({ name }) => name) })
  }
  const shape = `geoembeddings.as_4326(st_curvetoline(${quoteIdentifier(geometry.name)}::geometry), 4326)`
  return {
    sql: `select ${quoteIdentifier(column)}::text as c, ${shape} as g from ${qualified(schema, table)}`,
    values: [],
    toError: (why, cause) => examplesInvalid({ table, why }, { cause }),
  }
}

/** The features of a request. @throws FEATURES_INVALID */
export function featureSource(features: readonly unknown[], property: string, leftOut: Warnings): Source {
  const classes: (string | null)[] = []
  const geometries: string[] = []
  let without = 0
  features.forEach((feature, index) => {
    const { type, geometry, properties } = (feature ?? {}) as Record<string, unknown>
    if (type !== 'Feature') throw featuresInvalid({ why: 'is not a GeoJSON Feature', path: ['features', index] })
    if (geometry === null || typeof geometry !== 'object') {
      without++
      return
    }
    if (!hasNumericPositions(geometry))
      throw featuresInvalid({ why: 'has coordinates that are not numbers', path: ['features', index, 'geometry'] })
    const value = (properties as Record<string, unknown> | null | undefined)?.[property]
    const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    classes.push(isText ? String(value) : null)
    geometries.push(JSON.stringify(geometry))
  })
  leftOut.addUp('EXAMPLES_WITHOUT_PLACE', 'Examples without a geometry were left out.', without)
  return {
    sql: 'select f.c, st_setsrid(st_geomfromgeojson(f.g), 4326) as g from unnest($1::text[], $2::text[]) f(c, g)',
    values: [classes, geometries],
    toError: (why, cause) => featuresInvalid({ why, path: [] }, { cause }),
  }
}

/** Refuses texts with NUL, which the database cannot store. @throws FEATURES_INVALID with the path of the text */
export function checkFeatures(features: unknown): void {
  const path = pathOfNul(features)
  if (path) throw featuresInvalid({ why: 'has the character \\u0000', path })
}

function pathOfNul(value: unknown): (string | number)[] | null {
  if (typeof value === 'string') return value.includes('\0') ? [] : null
  if (typeof value !== 'object' || value === null) return null
  const members: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [name, member] of members) {
    const path = String(name).includes('\0') ? [] : pathOfNul(member)
    if (path) return [String(name).includes('\0') ? String(name).replaceAll('\0', '') : name, ...path]
  }
  return null
}
