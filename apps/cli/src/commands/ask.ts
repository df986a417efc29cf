import { InvalidArgumentError, Option, type Command } from 'commander'
import { whole } from '../arguments.ts'
import { ask, connect } from '../connection.ts'
import { note, print, printList } from '../output.ts'
import { onProject, type ProjectOptions } from '../run-task.ts'

interface Options extends ProjectOptions {
  readonly by: string
  readonly at: Place
  readonly limit: number
}

interface Place {
  readonly lat: number
  readonly lon: number
}

interface Trip {
  readonly trip: {
    readonly summary: { readonly length: number; readonly time: number }
    readonly legs: readonly {
      readonly maneuvers: readonly { readonly instruction: string; readonly length: number }[]
    }[]
  }
}

interface Status {
  readonly tileset_last_modified: number
  readonly unread_tags: readonly { readonly tag: string; readonly count: number }[]
  readonly bbox: { readonly features: readonly [{ readonly geometry: { readonly coordinates: readonly [Ring] } }] }
}

/** South-west, south-east, north-east, north-west, south-west. */
type Ring = readonly [readonly number[], readonly number[], readonly number[], readonly number[], readonly number[]]

const MODES = ['auto', 'bicycle', 'pedestrian', 'bus', 'truck', 'taxi', 'motor_scooter', 'motorcycle']

/** `terrane route`, `terrane routing inspect` and `terrane search`. */
export function askCommands(program: Command): void {
  onProject(
    program
      .command('route')
      .description('Route between two places, each `latitude,longitude`.')
      .argument('<from>', 'start', place)
      .argument('<to>', 'destination', place),
  )
    .addOption(new Option('--by <mode>', 'travel mode').choices(MODES).default('auto'))
    .addHelpText('after', '\nExample:\n  $ terrane route 48.0975,11.5922 48.1085,11.5879 --by bicycle')
    .action(route)
  const routing = program.command('routing').description('Inspect the routing engine.')
  onProject(routing.command('inspect').description('Show the age, extent and unsupported tags of the routing graph.'))
    .addHelpText('after', '\nExample:\n  $ terrane routing inspect')
    .action(inspect)
  onProject(
    program.command('search <table>').description('Find the tiles or cells most similar to the one at a place.'),
  )
    .requiredOption('--at <latitude,longitude>', 'place to compare with', place)
    .option('--limit <number>', 'number of results', whole, 10)
    .addHelpText('after', '\nExample:\n  $ terrane search scene --at 48.1,11.6 --limit 5')
    .action(search)
}

async function route(from: Place, to: Place, { profile, json, by }: Options): Promise<void> {
  const connection = await connect(profile)
  const body = { locations: [from, to], costing: by, units: 'kilometers' }
  const answer = (await ask(connection, '/routing-engine/v1/route', {
    method: 'POST',
    body: JSON.stringify(body),
  })) as Trip
  if (json) return print(JSON.stringify(answer, null, 2))
  const { summary, legs } = answer.trip
  for (const { instruction, length } of legs.flatMap(({ maneuvers }) => maneuvers))
    print(`${instruction} (${length} km)`)
  note(`${summary.length} km, ${Math.round(summary.time / 60)} min`)
}

async function inspect({ profile, json }: Pick<Options, 'profile' | 'json'>): Promise<void> {
  const connection = await connect(profile)
  const body = JSON.stringify({ verbose: true })
  const status = (await ask(connection, '/routing-engine/v1/status', { method: 'POST', body })) as Status
  if (json) return print(JSON.stringify(status, null, 2))
  const { tileset_last_modified: builtAt, bbox, unread_tags: tags } = status
  const corners = bbox.features[0].geometry.coordinates[0]
  const built = builtAt > 0 ? `Built ${new Date(builtAt * 1000).toISOString()}` : 'Built at an unknown time'
  note(`${built}, from ${corners[0].join(', ')} to ${corners[2].join(', ')}.`)
  if (tags.length === 0) return note('All tags of access, direction, size and hours are supported.')
  note('Unsupported tags; a route over one has a warning:')
  printList(tags, ['tag', 'count'], false)
}

async function search(table: string, { profile, json, at, limit }: Options): Promise<void> {
  const connection = await connect(profile)
  const body = JSON.stringify({ table_name: table, lon: at.lon, lat: at.lat, result_limit: limit })
  const headers = { 'content-profile': 'geoembeddings' }
  const found = (await ask(connection, '/rest/v1/rpc/similarity_search', { method: 'POST', headers, body })) as Record<
    string,
    string | number
  >[]
  const columns = Object.entries(found[0] ?? {})
    .filter(([, value]) => typeof value !== 'object')
    .map(([name]) => name)
  printList(found, columns, json)
}

function place(text: string): Place {
  const [, lat, lon] = /^(-?[\d.]{1,20}),(-?[\d.]{1,20})$/.exec(text) ?? []
  if (lat === undefined || !(Math.abs(Number(lat)) <= 90 && Math.abs(Number(lon)) <= 180))
    throw new InvalidArgumentError('Give latitude,longitude in degrees, e.g. 48.1,11.6.')
  return { lat: Number(lat), lon: Number(lon) }
}
