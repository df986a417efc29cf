import { Option, type Command } from 'commander'
import { areaOf, onArea, type AreaOptions } from '../area.ts'
import { columnPair, number, whole, zoomRange } from '../arguments.ts'
import type { Connection } from '../connection.ts'
import { countOf, progressLine } from '../output.ts'
import { styleOf } from '../style.ts'
import { readersOf, withReaders, type ReadersOptions } from '../readers.ts'
import { onTask, runTask, type TaskOptions } from '../run-task.ts'
import { datasetFile, upload, type StoredFile } from '../files.ts'
import { namedTables } from './tables.ts'

interface Options extends TaskOptions, AreaOptions, ReadersOptions {
  readonly table?: string
  readonly model?: string
  readonly tileSize?: number
  readonly sensor?: string
  readonly datetime?: string
  readonly level?: 'tile' | 'patch'
  readonly raw?: boolean
  readonly srs?: string
  readonly xy?: { readonly x: string; readonly y: string }
  readonly replace?: boolean
  readonly append?: boolean
  readonly place?: string
  readonly file?: string
  readonly topic?: string[]
  readonly style?: string
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

/** `terrane embed|import|osm|overture|regions|tiles`: one command for each task. */
export function taskCommands(program: Command): void {
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
  onTask(
    program.command('import <file>').description('Import a vector file: GeoPackage, Shapefile, GeoJSON, CSV, GPX, …'),
  )
    .option('--table <name>', 'table to make (default: the name of the file)')
    .option('--srs <code>', 'reference system, in place of what the file says, e.g. EPSG:25832')
    .option('--xy <x,y>', 'columns of a CSV or workbook that hold the coordinates, e.g. lon,lat', columnPair)
    .option('--replace', 'replace an existing table')
    .addHelpText('after', examples('import roads.gpkg', 'import parcels.zip --srs EPSG:25832 --table parcels'))
    .action(importFile)
  onArea(program.command('osm <name>').description('Import OpenStreetMap for a place: a table for each topic.'))
    .option('--file <path>', 'your own extract, PBF or XML (default: fetched by the worker)')
    .addOption(new Option('--topic <topic...>', 'buildings, streets, pois, … (default: all)').conflicts('style'))
    .option('--style <path>', 'tables of your own: a style as JSON, in place of topics')
    .option('--replace', 'replace the tables of an earlier import')
    .addHelpText(
      'after',
      examples(
        'osm Porto',
        'osm Porto --bbox -8.69,41.13,-8.55,41.19',
        'osm Porto --area porto.geojson --file porto.osm.pbf',
      ),
    )
    .action(osm)
  onArea(program.command('overture <name>').description('Import Overture Maps for a place: a table for each type.'))
    .option('--topic <topic...>', 'buildings, places, transportation, base, divisions, addresses', ['places'])
    .option('--replace', 'replace the tables of an earlier import')
    .addHelpText(
      'after',
      examples('overture Porto', 'overture Porto --bbox -8.69,41.13,-8.55,41.19 --topic places buildings'),
    )
    .action(overture)
  withReaders(
    program.command('regions <table>').description('Embed the H3 cells of an area by what is mapped in them.'),
    onArea,
  )
    .option('--place <name>', 'name of a place; needs a geocoder on the worker')
    .option('--resolution <number>', 'H3 resolution, 0 to 15', whole, 9)
    .option('--prefix <prefix>', 'tables of an earlier import, e.g. porto (default: fetched by the worker)')
    .addHelpText('after', examples('regions porto_cells --bbox -8.69,41.13,-8.55,41.19 --prefix porto'))
    .action(regions)
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
      const said = `${String(table)}: ${String(rows)} vectors of ${String(dims)} numbers`
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

function importFile(file: string, options: Options): Promise<void> {
  return runTask(
    'ogr2ogrImport',
    options,
    async (connection) => ({
      ...(isAddress(file) ? { fileUrl: file } : { storagePath: await bringDataset(connection, file) }),
      tableName: options.table ?? (await nameOf(file)),
      ...(options.srs !== undefined && { sourceSrs: options.srs }),
      ...(options.xy !== undefined && { csv: options.xy }),
      ...(options.replace && { mode: 'replace' as const }),
    }),
    tablesOf,
  )
}

function osm(name: string, options: Options): Promise<void> {
  return runTask(
    'osmImportArea',
    options,
    async (connection) => ({
      areaName: name,
      aoiGeoJson: await areaOf(options, connection, name),
      ...((options.topic ?? options.style) && { topics: (options.topic ?? (await styleOf(options.style!))) as never }),
      ...(options.replace && { mode: 'replace' as const }),
      ...(options.file !== undefined && {
        source: { kind: 'storage' as const, ...(await bring(connection, options.file)) },
      }),
    }),
    tablesOf,
  )
}

function overture(name: string, options: Options): Promise<void> {
  return runTask(
    'overtureImportArea',
    options,
    async (connection) => ({
      areaName: name,
      aoiGeoJson: await areaOf(options, connection, name),
      topics: options.topic as never,
      ...(options.replace && { mode: 'replace' as const }),
    }),
    tablesOf,
  )
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
    ({ table: made, rows, dims }) => `${String(made)}: ${String(rows)} cells, ${String(dims)} numbers each`,
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

/** Uploads a file, together with the other files of its data set if there are any. */
async function bringDataset(connection: Connection, path: string): Promise<StoredFile> {
  await using dataset = await datasetFile(path)
  return await bring(connection, dataset.file)
}

/** Uploads a file and shows the progress. */
export async function bring(connection: Connection, file: string): Promise<StoredFile> {
  const line = progressLine()
  try {
    return await upload(connection, file, (percent) => line.show(percent, `upload ${file}`))
  } finally {
    line.end()
  }
}

function tablesOf({ tables }: Record<string, unknown>): string {
  const made = tables as { table?: string; name?: string; rows: number; geometry_type?: string | null }[]
  return made
    .map(({ table, name, rows, geometry_type: type }) => {
      return `${table ?? name ?? ''}: ${countOf(rows, 'row')}${type === null ? ', no geometry' : ''}`
    })
    .join('\n')
}

/** A table name derived from a file. */
async function nameOf(file: string): Promise<string> {
  const { tableNameOf } = await import('@terrane/core')
  return tableNameOf(file)
}

function isAddress(file: string): boolean {
  return /^https?:\/\//.test(file)
}

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ terrane ${line}`).join('\n')}`
}
