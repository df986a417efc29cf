import { fileSource, openOsm } from '@terrane/osm'
import type { Keys } from './keys.ts'
import type { Stack } from './stack.ts'
import { TOWN_BBOX } from './demo/town.ts'

/** A place on the map: longitude and latitude. */
type Place = readonly [number, number]

/** Maximum pairs of places that are tried before the help reports that there is no route. */
const ROUTE_TRIES = 24

/** Example commands for this running stack, each tested before it is printed; a line says which have no result. */
export async function workingCommands(stack: Stack, keys: Keys): Promise<string[]> {
  return [
    `curl ${stack.workerUrl}/capacity ${bothHeaders(keys.serviceRoleKey)}`,
    `curl "${stack.workerUrl}/jobs/createGeoEmbeddings?limit=3" ${bothHeaders(keys.serviceRoleKey)}`,
    ...(await searchCommand(stack, keys)),
    await routeCommand(stack, keys),
    await functionCommand(stack, keys),
  ]
}

/** The worker requires the key in both headers. */
function bothHeaders(key: string): string {
  return `-H "apikey: ${key}" -H "Authorization: Bearer ${key}"`
}

/** A search in the latest embedding table with a location. */
async function searchCommand(stack: Stack, keys: Keys): Promise<string[]> {
  const path =
    '/rest/v1/embeddings_catalogue?select=table_name,bbox&kind=eq.geo&bbox=not.is.null&order=created_at&limit=1'
  const tables = (await ask(`${stack.originUrl}${path}`, {
    headers: { apikey: keys.anonKey, 'accept-profile': 'geoembeddings' },
  })) as { table_name: string; bbox: readonly [number, number, number, number] }[] | null
  const table = tables?.[0]
  if (!table) return []
  const [west, south, east, north] = table.bbox
  const body = {
    table_name: table.table_name,
    lon: rounded((west + east) / 2),
    lat: rounded((south + north) / 2),
    result_limit: 5,
  }
  return [
    `curl ${stack.originUrl}/rest/v1/rpc/similarity_search -H "apikey: ${keys.anonKey}" -H "Content-Profile: geoembeddings" -H "Content-Type: application/json" -d '${JSON.stringify(body)}'`,
  ]
}

async function routeCommand(stack: Stack, keys: Keys): Promise<string> {
  const box = await graphBox()
  const url = `${stack.originUrl}/routing-engine/v1/route`
  for (const [from, to] of box === null ? [] : pairsIn(box)) {
    const locations = [from, to].map(([lon, lat]) => ({ lat: rounded(lat), lon: rounded(lon) }))
    const body = JSON.stringify({ locations, costing: 'bicycle' })
    if ((await ask(url, { method: 'POST', headers: { apikey: keys.servicesKey }, body })) === null) continue
    return `curl ${url} -H "apikey: ${keys.servicesKey}" -d '${body}'`
  }
  return `# no route to show: the graph of ${process.env['TERRANE_ROUTING_OSM']} is not ready, or no two places of it were found joined`
}

/** Bounding box of the graph: that of the demo town, or the one in the header of the first extract. */
async function graphBox(): Promise<readonly [number, number, number, number] | null> {
  const own = process.env['TERRANE_ROUTING_OSM']?.split(',')[0]?.trim()
  if (!own) return TOWN_BBOX
  try {
    const header = await (await openOsm(await fileSource(own))).header()
    return header.bbox
  } catch {
    return null
  }
}

/** Pairs of neighbouring positions, from the centre of a box outwards. */
function pairsIn([west, south, east, north]: readonly [number, number, number, number]): [Place, Place][] {
  const at = (x: number, y: number): Place => [west + x * (east - west), south + y * (north - south)]
  return Array.from({ length: ROUTE_TRIES }, (_, i) => {
    const angle = i * 2.4
    const radius = 0.4 * Math.sqrt(i / ROUTE_TRIES)
    const [x, y] = [0.5 + radius * Math.cos(angle), 0.5 + radius * Math.sin(angle)]
    return [at(x, y), at(x + 0.08 * Math.cos(angle + 1), y + 0.08 * Math.sin(angle + 1))]
  })
}

/** A call of the first served function without authentication. */
async function functionCommand(stack: Stack, keys: Keys): Promise<string> {
  const listed = (await ask(`${stack.functionsUrl}/v1/projects/${stack.projectRef}/functions`, {
    headers: { apikey: keys.serviceRoleKey, authorization: `Bearer ${keys.serviceRoleKey}` },
  })) as { data?: { name: string }[] } | null
  const names = (listed?.data ?? []).map(({ name }) => name)
  const name = names.find((one) => one === 'hello') ?? names[0]
  if (name === undefined) return '# no function is served: none was found, or none of them builds'
  return `curl ${stack.originUrl}/functions/v1/${name} -H "Authorization: Bearer ${keys.anonKey}" -d '{"name":"Ada"}'`
}

/** The JSON of a successful answer, otherwise null. */
async function ask(url: string, init: RequestInit): Promise<unknown> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(10_000) })
    const body: unknown = await response.json()
    return response.ok ? body : null
  } catch {
    return null
  }
}

function rounded(degrees: number): number {
  return Math.round(degrees * 1e5) / 1e5
}
