import { tableNameOf, boxRing } from '@terrane/core'
import type { Box } from '../map/graticule.ts'
import { BUILT_IN_MODEL } from './models.ts'

/** Task for a file by its extension, with values for form fields. `extent`: bounding box of OSM data. */
export function taskFor(
  name: string,
  path: string,
  extent: Box | null = null,
): { task: string; label: string; presets: Record<string, string> } {
  const tableName = tableNameOf(name)
  const [bucket, ...key] = path.split('/')
  const place = { bucket, path: key.join('/') }
  const storagePath = JSON.stringify(place)
  if (/\.(osm|pbf)(\.(gz|bz2|xml))?$/i.test(name)) {
    const presets = {
      areaName: name.slice(0, name.indexOf('.')),
      source: JSON.stringify({ kind: 'storage', ...place }),
      ...(extent && { aoiGeoJson: JSON.stringify({ type: 'Polygon', coordinates: [boxRing(extent)] }) }),
    }
    return { task: 'osmImportArea', label: 'Import the map data', presets }
  }
  if (/\.tiff?$/i.test(name)) {
    return {
      task: 'createGeoEmbeddings',
      label: 'Embed the imagery',
      presets: { storagePath, tableName, modelName: BUILT_IN_MODEL },
    }
  }
  return { task: 'ogr2ogrImport', label: 'Import the file', presets: { storagePath, tableName } }
}

/** URL of the form of a suitable task, with its fields filled in. */
export function formOf(ref: string, { task, presets }: Pick<ReturnType<typeof taskFor>, 'task' | 'presets'>): string {
  return `/p/${ref}/new/${task}?${new URLSearchParams(presets).toString()}`
}
