import { Option, type Command } from 'commander'
import { areaOf, onArea, type AreaOptions } from '../area.ts'
import { number, whole, zoomRange } from '../arguments.ts'
import type { Connection } from '../connection.ts'
import { readersOf, withReaders, type ReadersOptions } from '../readers.ts'
import { onTask, runTask, type TaskOptions } from '../run-task.ts'
import { bring, examples, isAddress, nameOf } from '../task-input.ts'
import { namedTables } from './tables.ts'

interface Options extends TaskOptions, AreaOptions, ReadersOptions {
  readonly table?: string
  readonly model?: string
  readonly tileSize?: number
  readonly sensor?: string
  readonly datetime?: string
  readonly level?: 'tile' | 'patch'
  readonly raw?: boolean
  readonly append?: boolean
  readonly place?: string
  readonly resolution: number
  readonly zooms?: readonly [number, number]
  readonly schema?: string
  readonly prefix?: string
  readonly name?: string
  readonly filter?: string
  readonly dropRate?: number
  readonly rankBy?: string
  readonly cluster?: number
}

/** This model needs no download. */
const BUILT_IN_MODEL = 'builtin-texture-spectral-v2'

/** `terrane embed|regions|tiles`: one command for each task that makes vectors or tiles. */
export function taskCommands(program: Command): void {
  embedCommand(program)
  regionsCommand(program)
  tilesCommand(program)
}

function embedCommand(program: Command): void {
  withReaders(
    program
      .command('embed <file...>')
      .description('Embed GeoTIFFs: a vector for each tile, in one table. Many files are spread over all workers.'),
  )
    .option('--table <name>', 'table to make (default: the name of the first file)')
    .option('--append', 'add to an existing table; files that have changed are replaced')
    .option('--model <id>', `a model of \`terrane models list\` (default for a new table: ${BUILT_IN_MODEL})`)
    .option('--tile-size <pixels>', 'edge of a tile', whole)
    .option('--sensor <profile>', 'sensor: sentinel-2-l2a, landsat-8-9-c2-l2, … (default: by the name of the product)')
    .option('--datetime <time>', 'when it was taken, e.g. 2024-06-01T10:00:00Z (default: by the name of the product)')
    .addOption(new Option('--level <level>', 'a vector for each tile or each patch').choices(['tile', 'patch']))
    .option('--raw', 'do not scale vectors to length 1')
    .addHelpText(
      'after',
      examples(
        'embed scene.tif',
        'embed a.tif b.tif https://example.org/c.tif --table harbour',
        'embed d.tif --table harbour --append',
        'embed e.tif --model clay --sensor sentinel-2-l2a --datetime 2024-06-01T10:00:00Z',
      ),
    )
    .action(embed)
}

function regionsCommand(program: Command): void {
  withReaders(
    program.command('regions <table>').description('Embed the H3 cells of an area by the map features in them.'),
    onArea,
  )
    .option('--place <name>', 'name of a place; needs a geocoder on the worker')
    .option('--resolution <number>', 'H3 resolution, 0 to 15', whole, 9)
    .option('--prefix <prefix>', 'tables of an earlier import, e.g. porto (default: fetched by the worker)')
    .addHelpText('after', examples('regions porto_cells --bbox -8.69,41.13,-8.55,41.19 --prefix porto'))
    .action(regions)
}

function tilesCommand(program: Command): void {
  onTask(
    program
      .command('tiles <tables...>')
      .description(
        'Make a PMTiles archive of vector tiles of a table, or of several, each a layer of it; * stands for any characters.',
      ),
  )
    .option('--schema <name>', 'their schema', 'public')
    .option(
      '--zooms <range>',
      'lowest and highest zoom, e.g. 0-14 (default: chosen by the density of the data)',
      zoomRange,
    )
    .option('--name <name>', 'name of the archive (default: the first table)')
    .option('--filter <query>', 'only these rows, with the filters of /rest/v1, e.g. population=gt.1000')
    .option('--drop-rate <number>', 'keep one of this many points per zoom below the highest', number)
    .option('--rank-by <property>', 'keep the features with the largest values where not all fit')
    .option('--cluster <pixels>', 'merge points within this distance into one, with point_count', number)
    .addHelpText(
      'after',
      examples(
        'tiles streets',
        'tiles roads --zooms 4-12',
        'tiles streets buildings places --name city',
        'tiles places --cluster 50',
      ),
    )
    .action(tiles)
}

function embed(files: string[], options: Options): Promise<void> {
  const [first = ''] = files
  return runTask(
    'createGeoEmbeddings',
    options,
    async (connection) => ({
      ...(files.length === 1 && !options.append
        ? await rasterOf(connection, first)
        : { sources: await rastersOf(connection, files) }),
      ...(options.append && { mode: 'append' as const }),
      tableName: options.table ?? (await nameOf(first)),
      // An existing table determines the model when rows are added to it.
      ...(options.model === undefined
        ? !options.append && { modelName: BUILT_IN_MODEL }
        : { modelName: options.model }),
      ...(options.tileSize !== undefined && { tileSize: options.tileSize }),
      ...(options.sensor !== undefined && { profile: options.sensor }),
      ...(options.datetime !== undefined && { datetime: options.datetime }),
      ...(options.level !== undefined && { level: options.level }),
      ...(options.raw && { normalizeEmbeddings: false }),
      ...readersOf(options),
    }),
    ({ table, rows, dims, sources }) => {
      const said = `${String(table)}: ${String(rows)} vectors of ${String(dims)} dimensions`
      const { done, unchanged, failed } = (sources ?? {}) as Partial<Record<string, number>>
      return sources ? `${said}; sources: ${done} done, ${unchanged} unchanged, ${failed} failed` : said
    },
  )
}

async function rasterOf(connection: Connection, file: string) {
  return isAddress(file) ? { geotiffPath: file } : { storagePath: await bring(connection, file) }
}

/** Local files are identified by the given paths, because each upload has another address. */
async function rastersOf(connection: Connection, files: readonly string[]) {
  const sources: Awaited<ReturnType<typeof rasterOf>>[] = []
  for (const file of files) {
    sources.push({ ...(await rasterOf(connection, file)), ...(!isAddress(file) && { name: file }) })
  }
  return sources
}

function regions(table: string, options: Options): Promise<void> {
  return runTask(
    'createSraiEmbeddings',
    options,
    async (connection) => ({
      tableName: table,
      h3Resolution: options.resolution,
      ...(options.place === undefined
        ? { aoiGeoJson: await areaOf(options, connection) }
        : { placeQuery: options.place }),
      ...(options.prefix !== undefined && { source: { kind: 'tables' as const, prefix: options.prefix } }),
      ...readersOf(options),
    }),
    ({ table: made, rows, dims }) => `${String(made)}: ${String(rows)} cells of ${String(dims)} dimensions`,
  )
}

function tiles(names: string[], options: Options): Promise<void> {
  const { schema, zooms, name, filter, dropRate, rankBy, cluster, ...rest } = options
  const layer = {
    ...(schema !== undefined && { schema }),
    ...(filter !== undefined && { filter }),
    ...(dropRate !== undefined && { dropRate }),
    ...(rankBy !== undefined && { rankBy: { property: rankBy } }),
    ...(cluster !== undefined && { cluster: { distance: cluster } }),
  }
  return runTask(
    'archiveToPmtiles',
    rest,
    async (connection) => {
      const [first = '', ...further] = await namedTables(connection, schema ?? 'public', names)
      return {
        table: first,
        ...layer,
        ...(zooms && { zooms: [...zooms] }),
        ...(name !== undefined && { archiveName: name }),
        ...(further.length > 0 && { layers: further.map((table) => ({ table, ...layer })) }),
      }
    },
    ({ bucket, path, tiles: count, bytes }) =>
      `${String(bucket)}/${String(path)}: ${String(count)} tiles, ${String(bytes)} bytes`,
  )
}
