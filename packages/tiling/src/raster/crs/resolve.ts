import { needsGrid, noGeoreference, unsupportedCrs } from '../errors.ts'
import type { RasterCrs, RasterInfo } from '../raster-info.ts'
import { buildDefinition } from './by-parameters.ts'
import type { Built } from './by-parameters.ts'
import type { CrsCatalogue } from './catalogue.ts'
import { withShift } from './datum-shifts.ts'
import { findByName, findInTable } from './epsg-table.ts'
import { keysOfWkt } from './esri-wkt.ts'
import { inUnit, unitInCitation, unitOf } from './units.ts'

/**
 * The CRS of a raster: the one given by the caller; else by EPSG code; else by parameters, first as text in a citation,
 * then as keys; else by name. A unit of length in the file replaces that of the code, and a datum gets the shift for
 * the raster's location.
 *
 * @param sourceSrs EPSG code that replaces the CRS of the file
 * @throws NO_GEOREFERENCE, UNSUPPORTED_CRS, CRS_NEEDS_GRID
 */
export function resolveCrs(raster: RasterInfo, catalogue: CrsCatalogue, sourceSrs: number | null): RasterCrs {
  return withShift(sourceSrs === null ? stated(raster, catalogue) : byCode(sourceSrs, null, catalogue), raster)
}

function stated(raster: RasterInfo, catalogue: CrsCatalogue): RasterCrs {
  const { epsg, crsName, crsUnit, citations } = raster
  if (epsg !== null) {
    const crs = byCode(epsg, crsName, catalogue)
    const own = unitOf(crs)
    const unit = crsUnit ?? unitInCitation(citations)
    if (unit === null || own === null || unit === own) return crs
    const other = unit === 'unknown' ? null : inUnit(crs, unit)
    if (other !== null) return other
    throw unsupportedCrs({
      crs: `EPSG:${epsg} in the unit ${unit === 'unknown' ? 'of its citation' : `EPSG:${unit}`} instead of EPSG:${own}`,
    })
  }
  if (crsName === null && !Object.keys(raster.geoKeys).some((key) => CRS_KEYS[0] <= +key && +key < CRS_KEYS[1])) {
    throw noGeoreference({ why: 'no coordinate reference system is stored' })
  }
  return byContent(raster, catalogue)
}

/**
 * The CRS of an EPSG code, without a datum shift that depends on the position.
 *
 * @throws UNSUPPORTED_CRS, CRS_NEEDS_GRID
 */
export function byCode(epsg: number, crsName: string | null, catalogue: CrsCatalogue): RasterCrs {
  const crs = catalogue.find(epsg)
  if (crs !== null) return crs
  const entry = findInTable(epsg)
  const name = `EPSG:${epsg}${(crsName ?? entry?.name) ? ` (${crsName ?? entry?.name})` : ''}`
  if (entry?.residual != null) throw needsGrid({ crs: name, meters: entry.residual })
  throw unsupportedCrs({ crs: name })
}

function byContent({ geoKeys, citations, crsName }: RasterInfo, catalogue: CrsCatalogue): RasterCrs {
  const name = crsName ?? 'user-defined'
  // The parameters that writers store define an ellipsoidal Mercator, which is 20 km off.
  if (
    citations.some((citation) =>
      /web_?mercator|pseudo-?mercator|mercator_auxiliary_sphere|google ?maps/i.test(citation),
    )
  ) {
    return byCode(WEB_MERCATOR, null, catalogue)
  }
  const keys = keysOfWkt(citations) ?? geoKeys
  const built = withoutProjection(buildDefinition(keys), citations)
  if ('definition' in built) return { epsg: null, name, definition: built.definition, exceptions: [] }
  for (const citation of citations) {
    const code = findByName(citation)
    if (code !== null) return byCode(code, citation, catalogue)
  }
  throw unsupportedCrs({ crs: `"${name}" (no EPSG code; ${built.why})` })
}

/**
 * The keys beside the text of a projected CRS may describe its geographic CRS only, although its coordinates are
 * meters.
 */
function withoutProjection(built: Built, citations: readonly string[]): Built {
  const isProjected = citations.some((citation) => /(?:^|=)\s*proj(?:cs|crs)\[/i.test(citation))
  if (!isProjected || !('definition' in built) || !built.definition.startsWith('+proj=longlat')) return built
  return { why: 'its projection is not known' }
}

/** Keys of the geographic and of the projected CRS. */
const CRS_KEYS = [2048, 4096] as const
const WEB_MERCATOR = 3857
