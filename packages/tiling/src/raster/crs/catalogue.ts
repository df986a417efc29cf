import proj4 from 'proj4'
import { invalidCrs } from '../errors.ts'
import { findInTable } from './epsg-table.ts'
import type { RasterCrs } from '../raster-info.ts'

/** Finds the definition of a CRS by its EPSG code. `resolveCrs` adds a shift that depends on the position. */
export interface CrsCatalogue {
  find(epsg: number): RasterCrs | null
}

/** A CRS that an operator adds: its EPSG code, a name for messages, and a PROJ string with its datum shift, if any. */
export interface CrsEntry {
  readonly epsg: number
  readonly name: string
  readonly definition: string
}

/**
 * The CRSs that footprints support: those of the EPSG data set that proj4 converts to WGS 84 within a meter of PROJ
 * without grids, most of them within a millimeter (the table states the largest distance of each).
 *
 * @param extra added by the operator, who is responsible for the accuracy of the definition; replaces a built-in CRS
 * with the same code
 * @throws INVALID_CRS_DEFINITION
 */
export function createCrsCatalogue(extra: readonly CrsEntry[] = []): CrsCatalogue {
  const added = new Map(extra.map((entry) => [entry.epsg, checked(entry)]))
  return { find: (epsg) => added.get(epsg) ?? builtIn(epsg) }
}

/** Hawaii and the Aleutians: PROJ shifts NAD83 by 0.9 m there, and proj4 does not choose shifts by region. */
const NAD83 = 4269
const NAD83_SHIFTED: RasterCrs['exceptions'] = [
  [-161, 18, -154, 23],
  [172, 51, 180, 55],
  [-180, 51, -164, 55],
]

function builtIn(epsg: number): RasterCrs | null {
  const entry = findInTable(epsg)
  if (!entry?.definition) return null
  const { name, definition } = entry
  return { epsg, name, definition, exceptions: epsg === NAD83 ? NAD83_SHIFTED : [] }
}

/** Whether coordinates are longitude and latitude in WGS 84, or in a datum that PROJ treats as equal. */
export function isPlainLngLat({ definition }: RasterCrs): boolean {
  if (!definition.includes('+proj=longlat') || definition.includes('+pm=')) return false
  return !definition.includes('+towgs84=') || /\+towgs84=0,0,0(?![,.\d])/.test(definition)
}

/** Whether positions are on the datum of WGS 84; a definition with an ellipsoid of its own and no `+towgs84` has a datum without a published shift. */
export function isShifted({ definition }: RasterCrs): boolean {
  return !definition.includes('+a=') || /\+(?:towgs84|nadgrids)=/.test(definition)
}

/** Label of a CRS in stored records. */
export function crsLabel({ epsg, name, definition }: RasterCrs): string {
  return epsg === null ? definition : `EPSG:${epsg} (${name})`
}

function checked({ epsg, name, definition }: CrsEntry): RasterCrs {
  try {
    proj4(definition)
  } catch (cause) {
    throw invalidCrs({ epsg, definition }, { cause })
  }
  return { epsg, name, definition, exceptions: [] }
}
