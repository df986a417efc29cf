import type { FileFacts, InspectFile, JobWarning } from '@terrane/contracts'
import type { Box } from '../map/graticule.ts'
import { get, projectPath, request, toProblem } from './api.ts'
import { formatNumber, formatRows } from './format.ts'
import { osmExtent } from './osm-extent.ts'
import { taskFor } from './task-for-file.ts'

/** Maximum layers in a list. */
const MOST_LAYERS = 8
/** Status codes for a file that is too large, too many requests, or a timeout; the file may be fine. */
const NOT_NOW: ReadonlySet<number> = new Set([413, 429, 504])

/** Facts about a file for display before it is used. */
export interface FileLook {
  /** One line per layer, or one for a raster. */
  readonly lines: readonly string[]
  readonly warnings: readonly JobWarning[]
  /** West, south, east, north in degrees. */
  readonly extent: Box | null
}

/** Properties of a GeoTIFF that are read before it is used. */
interface RasterFacts {
  readonly width: number
  readonly height: number
  readonly count: number
  readonly dtype: string
  readonly crs_name: string
  readonly geographic_bounds: Box
}

/**
 * Reads the facts of a file in storage.
 *
 * @param path `bucket/key`
 * @throws the service's reason for refusing it
 */
export async function lookAtFile(ref: string, file: File, path: string): Promise<FileLook> {
  const { task } = taskFor(file.name, path)
  if (task === 'createGeoEmbeddings') {
    const url = projectPath(ref, `/raster/v1/info?url=${encodeURIComponent(`storage://${path}`)}`)
    return lookOfRaster(await get<RasterFacts>(url))
  }
  if (task === 'osmImportArea') return { lines: [], warnings: [], extent: await osmExtent(file) }
  const [bucket = '', ...key] = path.split('/')
  return lookAtFeatures(ref, { storagePath: { bucket, path: key.join('/') } })
}

/**
 * Reads the facts of a vector file as an import with these options would see it.
 *
 * @throws the worker's reason for refusing it
 */
export async function lookAtFeatures(ref: string, how: InspectFile, signal?: AbortSignal): Promise<FileLook> {
  try {
    return lookOfFeatures(await request<FileFacts>('POST', projectPath(ref, '/inspect'), how, signal))
  } catch (error) {
    if (!NOT_NOW.has(toProblem(error).status)) throw error
    return { lines: ['Too large for a preview.'], warnings: [], extent: null }
  }
}

/** The fields of an import's body that affect how its file is read; null without a file. */
export function inspectionOf(body: Readonly<Record<string, unknown>>): InspectFile | null {
  const { fileUrl, storagePath, sourceSrs, encoding, csv, types } = body as Partial<InspectFile>
  const file = storagePath?.bucket && storagePath.path ? { storagePath } : fileUrl ? { fileUrl } : null
  if (file === null) return null
  return {
    ...file,
    ...(sourceSrs !== undefined && { sourceSrs }),
    ...(encoding !== undefined && { encoding }),
    ...(csv !== undefined && { csv }),
    ...(types !== undefined && { types }),
  }
}

function lookOfRaster({
  width,
  height,
  count,
  dtype,
  crs_name: crs,
  geographic_bounds: extent,
}: RasterFacts): FileLook {
  const size = `${formatNumber(width)} × ${formatNumber(height)} pixels`
  return { lines: [`${size}, ${count} ${count === 1 ? 'band' : 'bands'} of ${dtype}, ${crs}`], warnings: [], extent }
}

/** Describes what an import would find, in lines of text. */
export function lookOfFeatures({ layers, warnings }: FileFacts): FileLook {
  const lines = layers.slice(0, MOST_LAYERS).map(({ name, rows, geometry_types: types, srid, fields }) => {
    const shape = types.length > 0 ? types.join(', ') : 'no geometry'
    const system = types.length === 0 ? '' : srid === null ? ', reference system unknown' : `, EPSG:${srid}`
    return `${name}: ${formatRows(rows)}, ${shape}${system}, ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}`
  })
  if (layers.length > MOST_LAYERS) lines.push(`and ${layers.length - MOST_LAYERS} more layers`)
  const boxes = layers.flatMap(({ bbox }) => (bbox === null ? [] : [bbox as unknown as Box]))
  return { lines, warnings, extent: around(boxes) }
}

function around(boxes: readonly Box[]): Box | null {
  if (boxes.length === 0) return null
  const side = (i: 0 | 1 | 2 | 3) => boxes.map((box) => box[i])
  return [Math.min(...side(0)), Math.min(...side(1)), Math.max(...side(2)), Math.max(...side(3))]
}
