import { createHash } from 'node:crypto'
import { writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'
import { features, indexParquet, overtureParquet, serveFiles } from '@terrane/testing/overture'

// Servers on the loopback address for fetches of the worker. They know Porto, because the pages of the documentation
// use it.

const RELEASE = '2026-11-18.0'
const [WEST, SOUTH, EAST, NORTH] = [-8.69, 41.13, -8.55, 41.19]
const boxOf = (west: number, south: number, east: number, north: number): object => ({
  type: 'Polygon',
  coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]], // prettier-ignore
})

/** A geocoder, extracts of OpenStreetMap and a release of Overture; `settings` make a stack use them. */
export interface World extends AsyncDisposable {
  readonly settings: Readonly<Record<string, string>>
}

export async function openWorld(): Promise<World> {
  const server = await serveFiles()
  const add = (path: string, bytes: Uint8Array): unknown => server.files.set(path, bytes)
  const addJson = (path: string, value: unknown): unknown => add(path, Buffer.from(JSON.stringify(value)))

  const extract = extractOfPorto()
  add('/porto.osm.pbf', extract)
  add('/porto.osm.pbf.md5', Buffer.from(`${createHash('md5').update(extract).digest('hex')}  porto.osm.pbf\n`))
  const properties = { id: 'porto', name: 'Porto', urls: { pbf: `${server.base}/porto.osm.pbf` } }
  const entry = { type: 'Feature', properties, geometry: boxOf(-9, 41, -8, 42) }
  addJson('/index-v1.json', { type: 'FeatureCollection', features: [entry] })

  const square = { west: WEST, south: SOUTH, side: NORTH - SOUTH }
  const index = (['place', 'building', 'building_part'] as const).map((type, seed) => {
    const kind = type === 'place' ? 'place' : 'building'
    add(`/${type}.parquet`, overtureParquet(features(200, kind, seed, square), 100))
    return { type, href: `${server.base}/${type}.parquet`, bbox: [WEST, SOUTH, EAST, NORTH] }
  })
  add(`/${RELEASE}/collections.parquet`, indexParquet(index))
  addJson('/catalog.json', { latest: RELEASE, links: [{ rel: 'child', href: `./${RELEASE}/catalog.json` }] })

  const place = { display_name: 'Porto, Portugal', osm_type: 'relation', osm_id: 3_459_013 }
  const found = JSON.stringify([{ ...place, geojson: boxOf(WEST, SOUTH, EAST, NORTH) }])
  server.intercept = (request, response) => {
    const asks = request.url?.startsWith('/search?') ?? false
    if (asks) response.writeHead(200, { 'content-type': 'application/json' }).end(found)
    return asks
  }
  return {
    settings: {
      TERRANE_GEOCODER_URL: `${server.base}/search`,
      TERRANE_SETTINGS: JSON.stringify({
        worker: { geofabrikUrl: server.base, overtureCatalogueUrl: `${server.base}/catalog.json` },
      }),
      TERRANE_FETCH_ALLOW_HOSTS: server.host,
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** The town of the fixtures, moved to Porto. */
function extractOfPorto(): Uint8Array {
  const { elements, header } = buildCity(2)
  const [east, north] = [(WEST + EAST) / 2 - 11.6, (SOUTH + NORTH) / 2 - 48.1]
  const moved = elements.map((element) =>
    element.type === 'node' ? { ...element, lon: element.lon + east, lat: element.lat + north } : element,
  )
  return Buffer.concat([...writePbf(moved, { ...header, bbox: [-9, 41, -8, 42] })])
}
