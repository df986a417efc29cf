import { needsGrid, noGeoreference, unsupportedCrs } from '../errors.ts'
import type { RasterCrs, RasterInfo } from '../raster-info.ts'
import { buildDefinition } from './by-parameters.ts'
import type { CrsCatalogue } from './catalogue.ts'
import { findByName, findInTable } from './epsg-table.ts'
import { keysOfWkt } from './esri-wkt.ts'

/**
 * The CRS of a raster: the one that the caller names; by its EPSG code; by its parameters, of which a text in a citation
 * goes before the keys; by its name, where that is all there is.
 *
 * @param sourceSrs EPSG code that takes the place of what the file says
 * @throws NO_GEOREFERENCE, UNSUPPORTED_CRS, CRS_NEEDS_GRID
 */
export function resolveCrs(raster: RasterInfo, catalogue: CrsCatalogue, sourceSrs: number | null): RasterCrs {
  if (sourceSrs !== null) return byCode(sourceSrs, null, catalogue)
  const { epsg, crsName, crsUnit } = raster
  if (epsg !== null) {
    const crs = byCode(epsg, crsName, catalogue)
    const unit = unitOf(crs)
    if (crsUnit !== null && unit !== null && crsUnit !== unit) {
      throw unsupportedCrs({ crs: `EPSG:${epsg} in the unit EPSG:${crsUnit} instead of EPSG:${unit}` })
    }
    return crs
  }
  if (crsName === null && !Object.keys(raster.geoKeys).some((key) => CRS_KEYS[0] <= +key && +key < CRS_KEYS[1])) {
    throw noGeoreference({ why: 'no coordinate reference system is stored' })
  }
  return byContent(raster, catalogue)
}

function byCode(epsg: number, crsName: string | null, catalogue: CrsCatalogue): RasterCrs {
  const crs = catalogue.find(epsg)
  if (crs !== null) return crs
  const entry = findInTable(epsg)
  const name = `EPSG:${epsg}${(crsName ?? entry?.name) ? ` (${crsName ?? entry?.name})` : ''}`
  if (entry?.residual != null) throw needsGrid({ crs: name, meters: entry.residual })
  throw unsupportedCrs({ crs: name })
}

function byContent({ geoKeys, citations, crsName }: RasterInfo, catalogue: CrsCatalogue): RasterCrs {
  const name = crsName ?? 'user-defined'
  // Its parameters, as writers give them, are those of an ellipsoidal Mercator, which is 20 km off.
  if (citations.some((citation) => /web_?mercator|pseudo-?mercator|mercator_auxiliary_sphere/i.test(citation))) {
    return byCode(WEB_MERCATOR, null, catalogue)
  }
  const keys = keysOfWkt(citations) ?? geoKeys
  const built = buildDefinition(keys)
  if ('definition' in built) return { epsg: null, name, definition: built.definition, exceptions: [] }
  for (const citation of citations) {
    const code = findByName(citation)
    if (code !== null) return byCode(code, citation, catalogue)
  }
  throw unsupportedCrs({ crs: `"${name}", which has no EPSG code and of which ${built.why},` })
}

/** The EPSG code of the unit of a CRS's axes; null when its definition spells out a length. */
function unitOf({ definition }: RasterCrs): number | null {
  if (definition.includes('+proj=longlat')) return DEGREE
  return definition.includes('+to_meter')
    ? null
    : (LENGTH_UNITS.get(/\+units=(\S+)/.exec(definition)?.[1] ?? 'm') ?? null)
}

/** Keys of the geographic and of the projected CRS. */
const CRS_KEYS = [2048, 4096] as const
const WEB_MERCATOR = 3857
const DEGREE = 9102
const LENGTH_UNITS: ReadonlyMap<string, number> = new Map([
  ['m', 9001],
  ['ft', 9002],
  ['us-ft', 9003],
])
