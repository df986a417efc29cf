import { quoteIdentifier, type Session } from '@terrane/database'
import { Parameters } from '@terrane/database/rest-query'
import type { Collection } from './collection.ts'
import { inSystem, type Crs } from './crs.ts'
import { noFeature } from './errors.ts'
import { keyValue, type ItemsQuery } from './items-query.ts'

/** Features as texts of GeoJSON: numbers are as the database writes them. */
export interface Page {
  readonly features: readonly string[]
  /** The parameter that asks for the following page; null on the last one. */
  readonly next: readonly [name: 'after' | 'offset', value: string] | null
  /** Number of all features that fit; null where it was not counted to its end. */
  readonly matched: number | null
}

interface Row {
  readonly id: string | null
  readonly geometry: string | null
  readonly properties: string
}

/** More features are not counted. */
const MOST_COUNTED = 100_000
/** Digits behind the point: a tenth of a millimetre. */
const DIGITS = { degrees: 9, meters: 4 } as const

/** Reads a page as the session's role. Pages follow the ids, so that none is read twice or left out while others change. */
export async function readPage(
  session: Session,
  collection: Collection,
  query: ItemsQuery,
  parameters: Parameters,
): Promise<Page> {
  const { key, source } = collection
  const { limit, offset, conditions } = query
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
  const order = key === null ? '' : ` order by source.${quoteIdentifier(key.name)}`
  const text = `select ${columns(collection, query.crs)} from ${source} as source${where}${order} limit ${limit + 1} offset ${offset}`
  const { rows } = await session.query<Row>(text, parameters.values)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const isLast = rows.length <= limit
  return {
    features: shown.map((row) => featureText(row, collection)),
    next: isLast || !last ? null : key === null ? ['offset', String(offset + limit)] : ['after', last.id!],
    matched: await matched(),
  }

  async function matched(): Promise<number | null> {
    if (query.after !== null) return null
    if (isLast) return offset + rows.length
    const counted = await session.query<{ n: number }>(
      `select count(*)::int as n from (select 1 from ${source} as source${where} limit ${MOST_COUNTED + 1}) rows`,
      parameters.values,
    )
    const { n = 0 } = counted.rows[0] ?? {}
    return n > MOST_COUNTED ? null : n
  }
}

/** Reads one feature. @throws FEATURE_NOT_FOUND */
export async function readItem(session: Session, collection: Collection, id: string, crs: Crs): Promise<string> {
  const parameters = new Parameters()
  const { rows } = await session
    .query<Row>(
      `select ${columns(collection, crs)} from ${collection.source} as source where ${keyCondition(collection, id, parameters)} limit 1`,
      parameters.values,
    )
    .catch((error: unknown) => {
      throw isNoValue(error) ? noFeature(id) : error
    })
  if (!rows[0]) throw noFeature(id)
  return featureText(rows[0], collection)
}

/** @throws FEATURE_NOT_FOUND where features have no ids */
export function keyCondition(collection: Collection, id: string, parameters: Parameters): string {
  if (collection.key === null) throw noFeature(id)
  return `source.${quoteIdentifier(collection.key.name)} = ${keyValue(collection, id, parameters)}`
}

/** A text that no value of the type has. */
export function isNoValue(error: unknown): boolean {
  return ['22P02', '22003', '22007', '22008'].includes(String((error as { code?: unknown }).code))
}

function columns({ key, geometry, srid, layer, properties }: Collection, crs: Crs): string {
  const straight = /^(?:geometry|circularstring|compoundcurve|curvepolygon|multicurve|multisurface)/i.test(
    layer.geometryType,
  )
  const shape = straight ? `st_curvetoline(${geometry})` : geometry
  const id = key === null ? 'null::text' : `source.${quoteIdentifier(key.name)}::text`
  const names = properties.map(({ name }) => `source.${quoteIdentifier(name)}`).join(', ')
  return `${id} as id, st_asgeojson(${inSystem(shape, srid, crs)}, ${crs.isGeographic ? DIGITS.degrees : DIGITS.meters}, 0) as geometry,
    (select row_to_json(shown)::text from (select ${names}) shown) as properties`
}

function featureText({ id, geometry, properties }: Row, { key }: Collection): string {
  const idText = id === null ? '' : `"id":${key?.kind === 'integer' ? id : JSON.stringify(id)},`
  return `{"type":"Feature",${idText}"geometry":${geometry ?? 'null'},"properties":${properties}}`
}
