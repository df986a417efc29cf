import type { JobWarning } from '@terrane/contracts'
import type { Aoi, Bbox } from '@terrane/core'
import type { OsmReader } from '@terrane/osm'
import { XmlReader } from '@terrane/osm'

/** How the extent that a source states lies to an area; `unknown` where it states none. */
export type Coverage = 'unknown' | 'outside' | 'part' | 'whole'

/** The header of XML is only complete at the end of the file: larger files are not read for it. */
const MOST_XML_BYTES = 32 << 20

/** The box that a source states in its header, without reading much; null when it has none. */
export async function statedExtent(reader: OsmReader, bytes: number, signal?: AbortSignal): Promise<Bbox | null> {
  if (reader instanceof XmlReader && bytes > MOST_XML_BYTES) return null
  return (await reader.header(signal)).bbox
}

/** How a stated extent lies to an area. */
export function coverageOf(extent: Bbox | null, aoi: Aoi): Coverage {
  if (extent === null) return 'unknown'
  const [west, south, east, north] = extent
  // A box over the antimeridian is written with its west beyond its east.
  const boxes: Bbox[] =
    west <= east
      ? [extent]
      : [
          [west, south, 180, north],
          [-180, south, east, north],
        ]
  if (boxes.every((box) => aoi.relateBox(...box) === 'outside')) return 'outside'
  const isWithin = ([w, s, e, n]: Bbox) => boxes.some((box) => w >= box[0] && s >= box[1] && e <= box[2] && n <= box[3])
  return aoi.boxes.every(isWithin) ? 'whole' : 'part'
}

/** The warning of a source that ends within the area. */
export function coverageWarnings(coverage: Coverage): JobWarning[] {
  if (coverage !== 'part') return []
  const message = 'The source does not reach over all of the area: what lies beyond its extent is not in the result.'
  return [{ code: 'SOURCE_COVERS_PART', message }]
}
