import { tableNameOf, boxRing } from '@terrane/core'
import type { Box } from '../map/graticule.ts'
import { BUILT_IN_MODEL } from './models.ts'

/** The task that embeds a raster, with values for form fields. @param path path in storage, its bucket first */
export function embeddingOf(path: string, tableName = tableNameOf(path)) {
  const presets = { storagePath: JSON.stringify(placeOf(path)), tableName, modelName: BUILT_IN_MODEL }
  return { task: 'createGeoEmbeddings', label: 'Embed the imagery', presets }
}

function placeOf(path: string) {
  const [bucket, ...key] = path.split('/')
  return { bucket, path: key.join('/') }
}

/** Task for a file by its extension, with values for form fields. `extent`: bounding box of OSM data. */
export function taskFor(
  name: string,
  path: string,
  extent: Box | null = null,
): { task: string; label: string; presets: Record<string, string> } {
  const tableName = tableNameOf(name)
  const place = placeOf(path)
  if (/\.(osm|pbf)(\.(gz|bz2|xml))?$/i.test(name)) {
    const presets = {
      areaName: name.slice(0, name.indexOf('.')),
      source: JSON.stringify({ kind: 'storage', ...place }),
      ...(extent && { aoiGeoJson: JSON.stringify({ type: 'Polygon', coordinates: [boxRing(extent)] }) }),
    }
    return { task: 'osmImportArea', label: 'Import the map data', presets }
  }
  if (/\.tiff?$/i.test(name)) return embeddingOf(path, tableName)
  const presets = { storagePath: JSON.stringify(place), tableName }
  return { task: 'ogr2ogrImport', label: 'Import the file', presets }
}

/** URL of the form of a suitable task, with its fields filled in. */
export function formOf(ref: string, { task, presets }: Pick<ReturnType<typeof taskFor>, 'task' | 'presets'>): string {
  return `/p/${ref}/new/${task}?${new URLSearchParams(presets).toString()}`
}
