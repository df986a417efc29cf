import { projectPath, request, session } from './api.ts'

/** Where files go that are brought by the page. */
const BUCKET = 'uploads'
/** As clients of Supabase storage send them. */
const CHUNK_BYTES = 6 * 1024 * 1024
/** The model that is always there. */
const BUILT_IN_MODEL = 'builtin-texture-spectral-v2'

/** What is known of a GeoTIFF before anything is done with it. */
export interface RasterFacts {
  readonly width: number
  readonly height: number
  readonly count: number
  readonly dtype: string
  readonly crs_name: string
}

/**
 * Brings a file into storage, in chunks that are tried again when the connection breaks. Returns `bucket/key`.
 *
 * @param onPercent told how far it is, 0 to 100
 */
export async function uploadFile(ref: string, file: File, onPercent: (percent: number) => void): Promise<string> {
  // Who brings no file loads no code for it.
  const [{ Upload }] = await Promise.all([import('tus-js-client'), makeBucket(ref)])
  const key = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}/${safeName(file.name)}`
  await new Promise<void>((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint: new URL(projectPath(ref, '/storage/v1/upload/resumable'), location.href).href,
      chunkSize: CHUNK_BYTES,
      retryDelays: [0, 1000, 3000, 5000, 10_000],
      storeFingerprintForResuming: false,
      headers: { 'x-csrf-token': session.get()?.csrf_token ?? '' },
      metadata: { bucketName: BUCKET, objectName: key, contentType: file.type || 'application/octet-stream' },
      onProgress: (sent, total) => onPercent(total > 0 ? (100 * sent) / total : 100),
      onSuccess: () => resolve(),
      onError: reject,
    })
    upload.start()
  })
  return `${BUCKET}/${key}`
}

/** The headers of a GeoTIFF in storage. @throws what the origin refuses it for */
export function lookAtRaster(ref: string, path: string): Promise<RasterFacts> {
  return request('GET', projectPath(ref, `/raster/v1/info?url=${encodeURIComponent(`storage://${path}`)}`))
}

/** What fits a file by the ending of its name, with the fields of the form that are known. */
export function taskFor(name: string, path: string): { task: string; label: string; presets: Record<string, string> } {
  const tableName = tableNameOf(name)
  const [bucket, ...key] = path.split('/')
  const storagePath = JSON.stringify({ bucket, path: key.join('/') })
  if (/\.tiff?$/i.test(name)) {
    return {
      task: 'createGeoEmbeddings',
      label: 'Embed the imagery',
      presets: { storagePath, tableName, modelName: BUILT_IN_MODEL },
    }
  }
  return { task: 'ogr2ogrImport', label: 'Import the file', presets: { storagePath, tableName } }
}

/** A table name made of a file's: `My Parcels (2).gpkg` → `my_parcels_2`. */
export function tableNameOf(name: string): string {
  const words = name
    .slice(0, name.includes('.') ? name.indexOf('.') : undefined)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, 60)
  const trimmed = words.startsWith('_') ? words.slice(1) : words
  const bare = trimmed.endsWith('_') ? trimmed.slice(0, -1) : trimmed
  return /^[a-z]/.test(bare) ? bare : `t_${bare}`
}

/** A key that storage takes, whatever the file was called. */
function safeName(name: string): string {
  return name.replaceAll(/[^\w.-]+/g, '_') || 'file'
}

async function makeBucket(ref: string): Promise<void> {
  await request('POST', projectPath(ref, '/storage/v1/bucket'), { name: BUCKET }).catch((error: unknown) => {
    const { problem } = error as { problem?: { status: number } }
    // It is there.
    if (problem?.status !== 409) throw error
  })
}
