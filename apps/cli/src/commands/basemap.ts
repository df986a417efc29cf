import { TerraneError } from '@terrane/core/errors'
import { archiveNameOf, BASEMAP_TABLES, basemapTiles } from '@terrane/map-style/basemap'
import type { Command } from 'commander'
import { areaOf, onArea, type AreaOptions } from '../area.ts'
import { ask, connect, type Connection } from '../connection.ts'
import { note, printOne } from '../output.ts'
import { onProject, watchTask, type ProjectOptions } from '../run-task.ts'
import { dropTables } from './tables.ts'
import { bring } from '../task-input.ts'

interface Options extends AreaOptions, ProjectOptions {
  readonly file?: string
  readonly replace?: boolean
}

/** `terrane basemap add`. */
export function basemapCommands(program: Command): void {
  const basemap = program.command('basemap').description('Make a basemap of a place from OpenStreetMap.')
  onArea(basemap.command('add <name>'), onProject)
    .description('Make streets, water, land use, buildings and names of a place, drawn beneath maps.')
    .option('--file <path>', 'your own extract, PBF or XML (default: fetched by the worker)')
    .option('--replace', 'replace the basemap of that name')
    .addHelpText(
      'after',
      '\nExamples:\n  $ terrane basemap add Porto\n  $ terrane basemap add Porto --bbox -8.69,41.13,-8.55,41.19 --file porto.osm.pbf',
    )
    .action(add)
}

/** Imports the tables of a basemap, makes their archive, and drops the tables. @throws BASEMAP_EXISTS */
async function add(name: string, options: Options): Promise<void> {
  const basemap = nameOf(name)
  const connection = await connect(options.profile)
  const { jobs } = connection.client
  if (!options.replace) await refuseReplacing(connection, basemap)
  const prefix = `basemap_${basemap}`
  const imported = await jobs.submit('osmImportArea', {
    areaName: name,
    aoiGeoJson: await areaOf(options, connection, name),
    tablePrefix: prefix,
    // In the client's types, filters have no members.
    topics: BASEMAP_TABLES as never,
    ...(options.file !== undefined && {
      source: { kind: 'storage' as const, ...(await bring(connection, options.file)) },
    }),
  })
  const result = (await watchTask(connection, 'osmImportArea', imported.id)) as { tables: { name: string }[] }
  const tables = result.tables.map((table) => table.name)
  try {
    const made = await jobs.submit('archiveToPmtiles', basemapTiles(prefix, basemap, tables))
    const archive = await watchTask(connection, 'archiveToPmtiles', made.id)
    const { bucket, path, tiles, bytes } = archive
    printOne(archive as never, `${String(bucket)}/${String(path)}: ${String(tiles)} tiles, ${String(bytes)} bytes`, options.json) // prettier-ignore
    note(`Maps of the console offer it as the basemap ${basemap}.`)
  } finally {
    await dropTables(connection, tables)
  }
}

async function refuseReplacing(connection: Connection, basemap: string): Promise<void> {
  const archiveName = archiveNameOf(basemap)
  const body = JSON.stringify({ prefix: `${archiveName}.pmtiles`, limit: 1 })
  const { objects } = (await ask(connection, '/storage/v1/object/list-v2/pmtiles', { method: 'POST', body })) as {
    objects: readonly unknown[]
  }
  if (objects.length === 0) return
  throw new TerraneError('BASEMAP_EXISTS', 'conflict', `There is a basemap ${basemap}`, {
    hint: 'Choose another name, or add --replace.',
  })
}

/** @throws BASEMAP_NAME */
function nameOf(name: string): string {
  const letters = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const basemap = letters.replaceAll(/[^a-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '')
  if (basemap !== '' && basemap.length <= 40) return basemap
  throw new TerraneError('BASEMAP_NAME', 'invalid', `A basemap cannot be called ${name}`, {
    hint: 'Use 1 to 40 letters of a to z and digits, such as porto, with --bbox or --area.',
  })
}
