import type { JobWarning } from '@terrane/contracts'
import type { Aoi, Bbox } from '@terrane/core'
import type { OsmReader } from '@terrane/osm'
import { XmlReader } from '@terrane/osm'

/** Relation of a source's stated extent to an area; `unknown` when it states none. */
export type Coverage = 'unknown' | 'outside' | 'part' | 'whole'

/** Largest XML file that is read for its extent, because the header is complete only at the end of the file. */
const MOST_XML_BYTES = 32 << 20

/** The extent in a source's header, read without much of the file; null when there is none. */
export async function statedExtent(reader: OsmReader, bytes: number, signal?: AbortSignal): Promise<Bbox | null> {
  if (reader instanceof XmlReader && bytes > MOST_XML_BYTES) return null
  return (await reader.header(signal)).bbox
}

/** Relation of a stated extent to an area. */
export function coverageOf(extent: Bbox | null, aoi: Aoi): Coverage {
  if (extent === null) return 'unknown'
  const [west, south, east, north] = extent
  // A box across the antimeridian has a west that is larger than its east.
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

/** Warning about a source that covers only a part of the area. */
export function coverageWarnings(coverage: Coverage): JobWarning[] {
  if (coverage !== 'part') return []
  const message = 'The source covers only a part of the area: features outside its extent are missing.'
  return [{ code: 'SOURCE_COVERS_PART', message }]
}
