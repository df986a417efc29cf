import { featuresIn } from './preview-geojson.ts'
import { pointsIn } from './preview-csv.ts'

/** Maximum bytes of a file that are read for a preview. */
const MOST_BYTES = 16 << 20
/** Maximum features of a preview. More would compete with the tiles of the layer on a computer without a graphics card. */
const MOST_FEATURES = 20_000

/**
 * The first features of a file, read by the page while it is uploaded. Empty for formats that the page cannot read, such
 * as archives.
 */
export async function previewOf(file: File): Promise<readonly GeoJSON.Feature[]> {
  const isTable = /\.(csv|tsv|txt)$/i.test(file.name)
  if (!isTable && !/\.(geo)?json(l|seq|nd)?$/i.test(file.name)) return []
  const text = await file.slice(0, MOST_BYTES).text()
  return isTable ? pointsIn(text, MOST_FEATURES, file.size <= MOST_BYTES) : featuresIn(text, MOST_FEATURES)
}
