import { featuresIn } from './preview-geojson.ts'
import { pointsIn } from './preview-csv.ts'

/** Maximum bytes of a file that are read for a preview, and maximum features of it. */
const MOST_BYTES = { table: 1 << 20, geojson: 4 << 20 }
const MOST_FEATURES = 5000

/**
 * The first features of a file, read by the page before the upload; empty for formats that the page cannot read, such
 * as archives.
 */
export async function previewOf(file: File): Promise<readonly GeoJSON.Feature[]> {
  const isTable = /\.(csv|tsv|txt)$/i.test(file.name)
  if (!isTable && !/\.(geo)?json(l|seq|nd)?$/i.test(file.name)) return []
  const most = isTable ? MOST_BYTES.table : MOST_BYTES.geojson
  const text = await file.slice(0, most).text()
  return isTable ? pointsIn(text, MOST_FEATURES, file.size <= most) : featuresIn(text, MOST_FEATURES)
}
