import { quoteIdentifier, type Session } from '@terrane/database'
import { Parameters } from '@terrane/database/rest-query'
import type { Collection, Column } from './collection.ts'
import { fromSystem, type Crs } from './crs.ts'
import { badFeature, noFeature } from './errors.ts'
import { Numeral, parseExactJson } from './exact-json.ts'
import { isNoValue, keyCondition } from './items.ts'

/** A feature as it was sent: its text, which the database reads, so that numbers of any size survive. */
export interface Sent {
  readonly json: string
  readonly id: string | null
  /** Names of the properties that it has. */
  readonly names: readonly string[]
  /** Names of the properties that are not null. */
  readonly filled: readonly string[]
  readonly hasGeometry: boolean
}

/** Reads the body of a create or replace, or of an update, which may leave out what stays. @throws BAD_FEATURE */
export function readFeature(body: unknown, isPart: boolean): Sent {
  const feature = objectOf(body)
  if (!isPart && feature['type'] !== 'Feature') throw badFeature('type is not Feature')
  if (!isPart && !('geometry' in feature)) throw badFeature('geometry is missing; it may be null')
  const { geometry = null, properties = null, id = null } = feature
  if (geometry !== null && typeof geometry !== 'object') throw badFeature('geometry is no object')
  if (properties !== null && (typeof properties !== 'object' || Array.isArray(properties)))
    throw badFeature('properties is no object')
  if (id !== null && typeof id !== 'string' && typeof id !== 'number' && !(id instanceof Numeral))
    throw badFeature('id is neither text nor number')
  return {
    json: body as string,
    id: id === null ? null : String(id),
    names: Object.keys(properties ?? {}),
    filled: Object.entries(properties ?? {}).flatMap(([name, value]) => (value === null ? [] : name)),
    hasGeometry: 'geometry' in feature,
  }
}

function objectOf(body: unknown): Record<string, unknown> {
  let value: unknown
  try {
    value = parseExactJson(typeof body === 'string' ? body : '')
  } catch {
    throw badFeature('it is no JSON, or nested too deeply')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badFeature('it is no object')
  return { ...value }
}

/** Adds a feature and returns its id: that of the database where it makes one, else the one that was sent. */
export async function createFeature(session: Session, collection: Collection, sent: Sent, crs: Crs): Promise<string> {
  const { key, source, geometryColumn } = collection
  const parameters = new Parameters()
  const body = parameters.add(sent.json)
  // Editors send each property that was left empty as null: a new feature has its default there.
  const columns = namedColumns(collection, sent.names).filter(({ name }) => sent.filled.includes(name))
  const targets: [name: string, value: string][] = columns.map(({ name }) => [
    quoteIdentifier(name),
    `given.${quoteIdentifier(name)}`,
  ])
  const isOwnId = key !== null && (await hasDefault(session, collection, key))
  if (sent.id !== null && !isOwnId)
    targets.push([quoteIdentifier(key!.name), `${parameters.add(sent.id)}::text::${key!.type}`])
  else if (!isOwnId && sent.filled.includes(key!.name))
    targets.push([quoteIdentifier(key!.name), `given.${quoteIdentifier(key!.name)}`])
  if (sent.hasGeometry) targets.push([quoteIdentifier(geometryColumn.name), geometrySql(body, collection, crs)])
  const list =
    targets.length === 0
      ? 'default values'
      : `(${targets.map(([name]) => name).join(', ')}) select ${targets.map(([, value]) => value).join(', ')} from ${givenSql(collection, body)}`
  const { rows } = await session.query<{ id: string }>(
    `insert into ${source} as target ${list} returning target.${quoteIdentifier(key!.name)}::text as id`,
    targets.length === 0 ? [] : parameters.values,
  )
  if (!rows[0]) throw noFeature(sent.id ?? 'of this collection')
  return rows[0].id
}

/** Whether the database makes the values of a column. */
async function hasDefault(session: Session, { schema, table }: Collection, { name }: Column): Promise<boolean> {
  const { rows } = await session.query(
    `select from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = $2 and a.attname = $3 and (a.atthasdef or a.attidentity <> '')`,
    [schema, table, name],
  )
  return rows.length > 0
}

/**
 * Changes a feature. A replacement sets the properties that it leaves out to their defaults; columns that are no
 * properties stay.
 *
 * @throws FEATURE_NOT_FOUND
 */
export async function changeFeature(
  session: Session,
  collection: Collection,
  id: string,
  { sent, crs, isPart }: { readonly sent: Sent; readonly crs: Crs; readonly isPart: boolean },
): Promise<void> {
  if (sent.id !== null && sent.id !== id) throw badFeature(`its id is ${sent.id}, and not that of the path`)
  const { properties, geometryColumn, source } = collection
  const parameters = new Parameters()
  const body = parameters.add(sent.json)
  const named = namedColumns(collection, sent.names)
  const changed = isPart
    ? named
    : properties.filter(({ name, isGenerated, mayUpdate }) => !isGenerated && (mayUpdate || sent.names.includes(name)))
  const set = changed.map(({ name }) => {
    const column = quoteIdentifier(name)
    return `${column} = ${sent.names.includes(name) ? `given.${column}` : 'default'}`
  })
  if (sent.hasGeometry) set.push(`${quoteIdentifier(geometryColumn.name)} = ${geometrySql(body, collection, crs)}`)
  const isNothing = set.length === 0
  const where = keyCondition(collection, id, parameters)
  await changeOne(
    session,
    id,
    isNothing
      ? `select from ${source} as source where ${where} and ${body}::text is not null`
      : `update ${source} as source set ${set.join(', ')} from ${givenSql(collection, body)} where ${where}`,
    parameters,
  )
}

/** @throws FEATURE_NOT_FOUND */
export async function deleteFeature(session: Session, collection: Collection, id: string): Promise<void> {
  const parameters = new Parameters()
  const where = keyCondition(collection, id, parameters)
  await changeOne(session, id, `delete from ${collection.source} as source where ${where}`, parameters).catch(
    (error: unknown) => {
      throw isNoValue(error) ? noFeature(id) : error
    },
  )
}

/** Views may have several rows of an id: a change that would hit more than one is undone. */
async function changeOne(session: Session, id: string, text: string, { values }: Parameters): Promise<void> {
  const { rowCount } = await session.query(text, values)
  if (rowCount !== 1) throw noFeature(id)
}

/** Columns of the properties that were sent; the key has its place in `id`. @throws BAD_FEATURE */
function namedColumns({ properties, key }: Collection, names: readonly string[]): readonly Column[] {
  return names.flatMap((name) => {
    if (name === key?.name) return []
    const column = properties.find((one) => one.name === name)
    if (column && !column.isGenerated) return column
    const known = properties.filter(({ isGenerated }) => !isGenerated).map((one) => one.name)
    throw badFeature(
      column
        ? `the database makes the values of ${name}`
        : `there is no property ${name.slice(0, 100)}, only ${known.join(', ')}`,
    )
  })
}

function givenSql({ source }: Collection, body: string): string {
  return `json_populate_record(null::${source}, coalesce(nullif((${body}::json -> 'properties')::text, 'null'), '{}')::json) as given`
}

/** A geometry of the body in the form of its column: single shapes become collections of one, heights are added as 0. */
function geometrySql(body: string, { srid, layer }: Collection, crs: Crs): string {
  const sent = `st_geomfromgeojson(nullif((${body}::json -> 'geometry')::text, 'null'))`
  const shape = fromSystem(sent, crs, srid)
  const many = /^multi/i.test(layer.geometryType) ? `st_multi(${shape})` : shape
  return /[a-z]Z$/.test(layer.geometryType) ? `st_force3d(${many})` : many
}
