import { hasNumericPositions } from '@terrane/core/positions'
import type { Session } from '@terrane/database'
import { refuseCostlyJson } from '@terrane/service'
import { RestError } from './errors.ts'

/** Whether a value, its JSON text or its GeoJSON Feature has positions that PostGIS would read as 0. */
function hasOtherPositions(value: unknown): boolean {
  const given = typeof value === 'string' ? parsed(value) : value
  if (typeof given !== 'object' || given === null) return false
  const { type, geometry } = given as { type?: unknown; geometry?: unknown }
  return !hasNumericPositions(type === 'Feature' ? geometry : given)
}

function parsed(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return null
  try {
    refuseCostlyJson(text)
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

/**
 * Refuses arguments of a function with non-numeric coordinates.
 *
 * @param names of the arguments that are geometries
 */
export function requirePositions(given: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  const wrong = names.find((name) => hasOtherPositions(given[name]))
  if (wrong !== undefined) throw noPositions(wrong)
}

/** Refuses rows with non-numeric coordinates in a column of geometries. Other columns may contain any JSON. */
export async function requirePositionsOfRows(
  session: Session,
  table: string,
  { columns, rows }: { readonly columns: readonly string[]; readonly rows: unknown },
): Promise<void> {
  const list = (Array.isArray(rows) ? rows : [rows]) as Readonly<Record<string, unknown>>[]
  const suspects = columns.filter((column) => list.some((row) => hasOtherPositions(row[column])))
  if (suspects.length === 0) return
  const { rows: wrong } = await session.query<{ name: string }>(
    `select a.attname as name from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = $1::regclass and a.attname = any ($2) and t.typname in ('geometry', 'geography') limit 1`,
    [table, suspects],
  )
  if (wrong[0]) throw noPositions(wrong[0].name)
}

function noPositions(name: string): RestError {
  return new RestError(400, '22023', `The coordinates of the GeoJSON geometry in ${name} are not numbers`, {
    hint: 'A position is a list of numbers: [longitude, latitude].',
  })
}
