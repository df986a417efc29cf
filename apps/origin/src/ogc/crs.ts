import type { Queryable } from '@terrane/database'
import { unknownCrs } from './errors.ts'

/** A coordinate reference system by its URI, and the order of its axes. */
export interface Crs {
  readonly uri: string
  readonly srid: number
  /** Northing or latitude comes first. */
  readonly isSwapped: boolean
  readonly isGeographic: boolean
}

export const CRS84: Crs = {
  uri: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
  srid: 4326,
  isSwapped: false,
  isGeographic: true,
}
/** System of features with heights. */
const CRS84H = 'http://www.opengis.net/def/crs/OGC/0/CRS84h'
const EPSG_4326: Crs = { uri: epsg(4326), srid: 4326, isSwapped: true, isGeographic: true }
const EPSG_3857: Crs = { uri: epsg(3857), srid: 3857, isSwapped: false, isGeographic: false }

/** The systems in which a collection is offered; the last one is its storage system. */
export async function offeredSystems(session: Queryable, srid: number): Promise<readonly Crs[]> {
  if (srid === 4326) return [CRS84, EPSG_3857, EPSG_4326]
  if (srid === 3857) return [CRS84, EPSG_4326, EPSG_3857]
  const { rows } = await session.query<{ code: number; text: string }>(
    `select auth_srid as code, srtext as text from spatial_ref_sys where srid = $1 and auth_name = 'EPSG'`,
    [srid],
  )
  const found = rows[0]
  if (!found) return [CRS84, EPSG_4326, EPSG_3857]
  // For a compound or bound system, only the first part is used.
  const text = found.text
    .replace(/^(?:COMPD_CS\["[^"]*",|BOUNDCRS\[SOURCECRS\[)+/, '')
    .split(/,(?:VERT_CS|TARGETCRS)\[/, 1)[0]!
  const isGeographic = text.startsWith('GEOG')
  // The texts of systems with northing as the first axis have no AXIS entries.
  const isSwapped = isGeographic || !text.includes('AXIS[')
  return [CRS84, EPSG_4326, EPSG_3857, { uri: epsg(found.code), srid, isSwapped, isGeographic }]
}

/** The offered system that a parameter or header names; CRS84 by default. @throws CRS_UNKNOWN */
export function systemOf(name: string, value: string | null, offered: readonly Crs[]): Crs {
  const uri = value?.trim().replace(/^<(.*)>$/, '$1') ?? CRS84.uri
  const wanted = uri === CRS84H ? CRS84.uri : uri
  const found = offered.find((crs) => crs.uri === wanted)
  if (found) return found
  throw unknownCrs(
    name,
    uri.slice(0, 200),
    offered.map((crs) => crs.uri),
  )
}

/** SQL of a geometry in a system, with its axes in the system's order. */
export function inSystem(geometry: string, srid: number, crs: Crs): string {
  const transformed = srid === crs.srid ? geometry : `st_transform(${geometry}, ${crs.srid})`
  return crs.isSwapped ? `st_flipcoordinates(${transformed})` : transformed
}

/** SQL of a geometry, transformed from the system of a request to another one. */
export function fromSystem(geometry: string, crs: Crs, srid: number): string {
  const straight = `st_setsrid(${crs.isSwapped ? `st_flipcoordinates(${geometry})` : geometry}, ${crs.srid})`
  return srid === crs.srid ? straight : `st_transform(${straight}, ${srid})`
}

function epsg(code: number): string {
  return `http://www.opengis.net/def/crs/EPSG/0/${code}`
}
