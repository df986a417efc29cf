import { tableNameOf } from '@terrane/core'
import type { Box } from '../map/graticule.ts'
import { projectPath, request, session } from './api.ts'
import { BUILT_IN_MODEL } from './models.ts'

/** Bucket for files uploaded by the page. */
export const UPLOADS = 'uploads'
/** Chunk size that clients of Supabase storage use. */
const CHUNK_BYTES = 6 * 1024 * 1024

/**
 * Uploads a file to storage, in chunks that are retried when the connection breaks. Returns `bucket/key`.
 *
 * @param onPercent told how far it is, 0 to 100
 */
export async function uploadFile(ref: string, file: File, onPercent: (percent: number) => void): Promise<string> {
  // The code is loaded only for an upload.
  const [{ Upload }] = await Promise.all([import('tus-js-client'), makeBucket(ref)])
  let key = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}/${safeName(file.name)}`
  await new Promise<void>((resolve, reject) => {
    const metadata = { bucketName: UPLOADS, objectName: key, contentType: file.type || 'application/octet-stream' }
    const upload = new Upload(file, {
      endpoint: new URL(projectPath(ref, '/storage/v1/upload/resumable'), location.href).href,
      chunkSize: CHUNK_BYTES,
      retryDelays: [0, 1000, 3000, 5000, 10_000],
      // An upload that was cut off by closing the page is resumed when the same file is chosen again.
      removeFingerprintOnSuccess: true,
      headers: { 'x-csrf-token': session.get()?.csrf_token ?? '' },
      metadata,
      onProgress: (sent, total) => onPercent(total > 0 ? (100 * sent) / total : 100),
      onSuccess: () => resolve(),
      onError: reject,
    })
    const begin = async () => {
      const [earlier] = await upload.findPreviousUploads()
      if (earlier) {
        upload.resumeFromPreviousUpload(earlier)
        key = metadata.objectName = earlier.metadata['objectName'] ?? key
      }
      upload.start()
    }
    begin().catch(reject)
  })
  return `${UPLOADS}/${key}`
}

/** Task for a file by its name's extension, with the form fields that are known; `extent` of OSM data. */
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
      ...(extent && { aoiGeoJson: JSON.stringify(polygonOf(extent)) }),
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

/** Address of the form of a fitting task, filled in. */
export function formOf(ref: string, { task, presets }: Pick<ReturnType<typeof taskFor>, 'task' | 'presets'>): string {
  return `/p/${ref}/new/${task}?${new URLSearchParams(presets).toString()}`
}

function polygonOf([west, south, east, north]: Box): GeoJSON.Polygon {
  const ring = [west, south, east, south, east, north, west, north, west, south]
  return {
    type: 'Polygon',
    coordinates: [Array.from({ length: 5 }, (_, i) => [ring[2 * i] ?? 0, ring[2 * i + 1] ?? 0])],
  }
}

/** A valid storage key from any file name. */
function safeName(name: string): string {
  return name.replaceAll(/[^\w.-]+/g, '_') || 'file'
}

async function makeBucket(ref: string): Promise<void> {
  await request('POST', projectPath(ref, '/storage/v1/bucket'), { name: UPLOADS }).catch((error: unknown) => {
    const { problem } = error as { problem?: { status: number } }
    // The bucket exists already.
    if (problem?.status !== 409) throw error
  })
}
