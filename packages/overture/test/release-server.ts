import {
  indexParquet,
  overtureParquet,
  serveFiles,
  type FileServer,
  type OvertureFeature,
} from '@terrane/testing/overture'

/** The release that the server publishes. */
export const RELEASE = '2026-08-19.0'

/** A server with a catalogue, and one release of one file of places. */
export async function serveRelease(
  places: readonly OvertureFeature[],
): Promise<{ readonly server: FileServer; readonly catalogue: string; readonly file: string }> {
  const server = await serveFiles()
  const path = `/release/${RELEASE}/type=place/part-0.zstd.parquet`
  const links = [{ rel: 'child', href: `./${RELEASE}/catalog.json` }]
  server.files.set(path, overtureParquet(places, 400))
  server.files.set('/stac/catalog.json', Buffer.from(JSON.stringify({ type: 'Catalog', latest: RELEASE, links })))
  const file = `${server.base}${path}`
  server.files.set(
    `/stac/${RELEASE}/collections.parquet`,
    indexParquet([{ type: 'place', href: file, bbox: [0, 0, 11, 11] }]),
  )
  return { server, catalogue: `${server.base}/stac/catalog.json`, file }
}
