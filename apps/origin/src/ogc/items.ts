import { quoteIdentifier, type Session } from '@terrane/database'
import { Parameters } from '@terrane/database/rest-query'
import type { Collection } from './collection.ts'
import { CRS84, inSystem, type Crs } from './crs.ts'
import { noFeature } from './errors.ts'
import { keyValue, MOST_OFFSET, type ItemsQuery } from './items-query.ts'

/** A page of features in one form. */
export interface Page<Feature> {
  readonly features: readonly Feature[]
  /** The parameter of the next page; null on the last page. */
  readonly next: readonly [name: 'after' | 'offset', value: string] | null
  /** Number of all matching features; null when counting stopped at the limit. */
  readonly matched: number | null
}

interface Row {
  readonly id: string | null
  readonly geometry: string | null
  /** JSON. */
  readonly properties: string
}

/** How features are read, and how a row is converted. */
export interface Form<Feature> {
  /** SQL of a geometry that is in the system of the answer; `properties` is SQL of the row `shown`. */
  readonly geometry: (geometry: string, digits: number) => string
  readonly properties: string
  readonly feature: (row: Row, collection: Collection) => Feature
}

/** Features as GeoJSON texts, with numbers as the database writes them. */
export const AS_GEOJSON: Form<string> = {
  geometry: (geometry, digits) => `st_asgeojson(${geometry}, ${digits}, 0)`,
  properties: 'row_to_json(shown.*)::text',
  feature: featureText,
}

/** A feature as a row of a table for people: values are texts, and the geometry is replaced by its type. */
export interface FeatureRow extends Record<string, unknown> {
  readonly id: string | undefined
  readonly properties: Readonly<Record<string, string | null>>
  readonly geometry: { readonly type: string } | null
}

export const AS_ROWS: Form<FeatureRow> = {
  geometry: (geometry) => `substr(st_geometrytype(${geometry}), 4)`,
  // Values are read as texts, so their nesting does not matter.
  properties: `(select coalesce(json_agg(value), '[]') from json_each_text(row_to_json(shown.*)))::text`,
  feature: ({ id, geometry, properties }, collection) => {
    const values = JSON.parse(properties) as readonly (string | null)[]
    return {
      id: id ?? undefined,
      properties: Object.fromEntries(collection.properties.map(({ name }, i) => [name, values[i] ?? null])),
      geometry: geometry === null ? null : { type: geometry },
    }
  },
}

/** Maximum features that are counted. */
const MOST_COUNTED = 100_000
const COUNT_MS = 2000
const CANCELED = '57014'
/** Decimal digits of coordinates: a tenth of a millimetre. */
const DIGITS = { degrees: 9, meters: 4 } as const

/** Reads a page under the session's role, by primary key if there is one, so that changes neither repeat nor omit. */
export async function readPage<Feature>(
  session: Session,
  collection: Collection,
  { parameters, ...query }: ItemsQuery & { readonly parameters: Parameters },
  form: Form<Feature>,
): Promise<Page<Feature>> {
  const { isUnique, order, source } = collection
  const { limit, offset, conditions } = query
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
  const text = `select ${columns(collection, query.crs, form)} from ${source} as source${where} order by ${order} limit ${limit + 1} offset ${offset}`
  const { rows } = await session.query<Row>(text, parameters.values)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const isLast = rows.length <= limit
  return {
    features: shown.map((row) => form.feature(row, collection)),
    next: isLast || !last ? null : isUnique ? ['after', last.id!] : offsetAfter(offset + limit),
    matched: await matched(),
  }

  async function matched(): Promise<number | null> {
    if (query.after !== null) return null
    if (isLast && (rows.length > 0 || offset === 0)) return offset + rows.length
    const n = await countWithin(session, `select 1 from ${source} as source${where}`, parameters)
    return n > MOST_COUNTED ? null : n
  }
}

function offsetAfter(offset: number): Page<unknown>['next'] {
  return offset > MOST_OFFSET ? null : ['offset', String(offset)]
}

/** Rows, up to one more than the limit; infinity if counting takes too long, because the page itself is read. */
async function countWithin(session: Session, text: string, { values }: Parameters): Promise<number> {
  await session.query(`savepoint counted; set local statement_timeout = ${COUNT_MS}`)
  try {
    const limited = `select count(*)::int as n from (${text} limit ${MOST_COUNTED + 1}) rows`
    return (await session.query<{ n: number }>(limited, values)).rows[0]?.n ?? 0
  } catch (error) {
    if ((error as { code?: unknown }).code !== CANCELED) throw error
    await session.query('rollback to counted')
    return Infinity
  }
}

/** Reads one feature. @throws FEATURE_NOT_FOUND */
export async function readItem(session: Session, collection: Collection, id: string, crs: Crs): Promise<string> {
  const parameters = new Parameters()
  const { rows } = await session
    .query<Row>(
      `select ${columns(collection, crs, AS_GEOJSON)} from ${collection.source} as source where ${keyCondition(collection, id, parameters)} limit 1`,
      parameters.values,
    )
    .catch((error: unknown) => {
      throw isNoValue(error) ? noFeature(id) : error
    })
  if (!rows[0]) throw noFeature(id)
  return featureText(rows[0], collection)
}

/** Removes one feature and returns it as {@link readItem} would have. @throws FEATURE_NOT_FOUND */
export async function removeItem(session: Session, collection: Collection, id: string): Promise<string> {
  const parameters = new Parameters()
  const where = keyCondition(collection, id, parameters)
  const { rows } = await session
    .query<Row>(
      `delete from ${collection.source} as source where ${where} returning ${columns(collection, CRS84, AS_GEOJSON)}`,
      parameters.values,
    )
    .catch((error: unknown) => {
      throw isNoValue(error) ? noFeature(id) : error
    })
  // A view may have several rows with an id; none is removed then.
  if (rows.length !== 1) throw noFeature(id)
  return featureText(rows[0]!, collection)
}

/** @throws FEATURE_NOT_FOUND where features have no ids */
export function keyCondition(collection: Collection, id: string, parameters: Parameters): string {
  if (collection.key === null) throw noFeature(id)
  return `source.${quoteIdentifier(collection.key.name)} = ${keyValue(collection, id, parameters)}`
}

/** True for the errors of a text that is not valid for its type. */
export function isNoValue(error: unknown): boolean {
  return ['22P02', '22003', '22007', '22008'].includes(String((error as { code?: unknown }).code))
}

function columns({ key, geometry, srid, layer, properties }: Collection, crs: Crs, form: Form<unknown>): string {
  const straight =
    /^(?:geometry|polyhedralsurface|circularstring|compoundcurve|curvepolygon|multicurve|multisurface)/i.test(
      layer.geometryType,
    )
  // GeoJSON has no polyhedral surfaces: they become multipolygons.
  const shape = straight
    ? `(case geometrytype(${geometry}) when 'POLYHEDRALSURFACE' then st_collect(array(select (st_dump(${geometry})).geom)) else st_curvetoline(${geometry}) end)`
    : geometry
  const id = key === null ? 'null::text' : `source.${quoteIdentifier(key.name)}::text`
  const names = properties.map(({ name }) => `source.${quoteIdentifier(name)}`).join(', ')
  const digits = crs.isGeographic ? DIGITS.degrees : DIGITS.meters
  return `${id} as id, ${form.geometry(inSystem(shape, srid, crs), digits)} as geometry,
    (select ${form.properties} from (select ${names}) shown) as properties`
}

function featureText({ id, geometry, properties }: Row, { key }: Collection): string {
  const idText = id === null ? '' : `"id":${key?.kind === 'integer' ? id : JSON.stringify(id)},`
  return quotesByCode(`{"type":"Feature",${idText}"geometry":${geometry ?? 'null'},"properties":${properties}}`)
}

/** JSON whose texts have quotes by their code: QGIS 3.40 reads `\"` as a backslash. */
function quotesByCode(json: string): string {
  return json.includes('\\"') ? json.replaceAll(/\\./g, (pair) => (pair === '\\"' ? '\\u0022' : pair)) : json
}
