import { featuresIn } from './preview-geojson.ts'
import { pointsIn } from './preview-csv.ts'

/** Part of a file that is read for a preview, and the most features of it. */
const MOST_BYTES = 4 << 20
const MOST_FEATURES = 5000

/**
 * The first features of a file, read in the page before it is uploaded; none for formats that the page cannot read, such
 * as archives.
 */
export async function previewOf(file: File): Promise<readonly GeoJSON.Feature[]> {
  const isTable = /\.(csv|tsv|txt)$/i.test(file.name)
  if (!isTable && !/\.(geo)?json(l|seq|nd)?$/i.test(file.name)) return []
  const text = await file.slice(0, MOST_BYTES).text()
  const isWhole = file.size <= MOST_BYTES
  return isTable ? pointsIn(text, MOST_FEATURES, isWhole) : featuresIn(text, MOST_FEATURES)
}
