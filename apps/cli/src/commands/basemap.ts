import { TerraneError } from '@terrane/core/errors'
import { BASEMAP_TABLES, basemapTiles } from '@terrane/map-style/basemap'
import type { Command } from 'commander'
import { areaOf, onArea, type AreaOptions } from '../area.ts'
import { connect } from '../connection.ts'
import { note, printOne } from '../output.ts'
import { onProject, watchTask } from '../run-task.ts'
import { dropTables } from './tables.ts'
import { bring } from './tasks.ts'

interface Options extends AreaOptions {
  readonly profile?: string
  readonly json?: boolean
  readonly file?: string
}

/** `terrane basemap add`. */
export function basemapCommands(program: Command): void {
  const basemap = program.command('basemap').description('Make a basemap of a place from OpenStreetMap.')
  onArea(basemap.command('add <name>'), onProject)
    .description('Make streets, water, land use, buildings and names of a place, drawn beneath maps.')
    .option('--file <path>', 'your own extract, PBF or XML (default: fetched by the worker)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ terrane basemap add Porto\n  $ terrane basemap add Porto --bbox -8.69,41.13,-8.55,41.19 --file porto.osm.pbf',
    )
    .action(add)
}

/** Imports the tables of a basemap, makes their archive, and drops the tables. An archive of that name is replaced. */
async function add(name: string, options: Options): Promise<void> {
  const basemap = nameOf(name)
  const connection = await connect(options.profile)
  const { jobs } = connection.client
  const prefix = `basemap_${basemap}`
  const imported = await jobs.submit('osmImportArea', {
    areaName: name,
    aoiGeoJson: await areaOf(options, connection, name),
    tablePrefix: prefix,
    // The client's types have filters of no members.
    topics: BASEMAP_TABLES as never,
    ...(options.file !== undefined && {
      source: { kind: 'storage' as const, ...(await bring(connection, options.file)) },
    }),
  })
  const { tables } = (await watchTask(connection, 'osmImportArea', imported.id)) as { tables: { name: string }[] }
  try {
    const made = await jobs.submit('archiveToPmtiles', basemapTiles(prefix, basemap))
    const result = await watchTask(connection, 'archiveToPmtiles', made.id)
    const { bucket, path, tiles, bytes } = result
    printOne(result as never, `${String(bucket)}/${String(path)}: ${String(tiles)} tiles, ${String(bytes)} bytes`, options.json) // prettier-ignore
    note(`Maps of the console offer it as the basemap ${basemap}.`)
  } finally {
    await dropTables(connection, tables.map((table) => table.name)) // prettier-ignore
  }
}

/** @throws BASEMAP_NAME */
function nameOf(name: string): string {
  const basemap = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '') // prettier-ignore
  if (basemap !== '' && basemap.length <= 40) return basemap
  throw new TerraneError('BASEMAP_NAME', 'invalid', `A basemap cannot be called ${name}`, {
    hint: 'Use 1 to 40 letters and digits, such as porto.',
  })
}
