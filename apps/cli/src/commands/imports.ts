import { Option, type Command } from 'commander'
import { areaOf, onArea, type AreaOptions } from '../area.ts'
import { columnPair } from '../arguments.ts'
import type { Connection } from '../connection.ts'
import { datasetFile, type StoredFile } from '../files.ts'
import { countOf } from '../output.ts'
import { onTask, runTask, type TaskOptions } from '../run-task.ts'
import { styleOf } from '../style.ts'
import { bring, examples, isAddress, nameOf } from '../task-input.ts'

interface Options extends TaskOptions, AreaOptions {
  readonly table?: string
  readonly srs?: string
  readonly xy?: { readonly x: string; readonly y: string }
  readonly replace?: boolean
  readonly file?: string
  readonly topic?: string[]
  readonly style?: string
}

/** `terrane import|osm|overture`: one command for each task that imports tables. */
export function importCommands(program: Command): void {
  onTask(
    program.command('import <file>').description('Import a vector file: GeoPackage, Shapefile, GeoJSON, CSV, GPX, …'),
  )
    .option('--table <name>', 'table to make (default: the name of the file)')
    .option('--srs <code>', 'reference system instead of the one in the file, e.g. EPSG:25832')
    .option('--xy <x,y>', 'columns of a CSV or workbook that hold the coordinates, e.g. lon,lat', columnPair)
    .option('--replace', 'replace an existing table')
    .addHelpText('after', examples('import roads.gpkg', 'import parcels.zip --srs EPSG:25832 --table parcels'))
    .action(importFile)
  onArea(program.command('osm <name>').description('Import OpenStreetMap for a place: a table for each topic.'))
    .option('--file <path>', 'your own extract, PBF or XML (default: fetched by the worker)')
    .addOption(new Option('--topic <topic...>', 'buildings, streets, pois, … (default: all)').conflicts('style'))
    .option('--style <path>', 'style of custom tables as JSON, instead of topics')
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

/** Uploads a file, together with the other files of its data set if there are any. */
async function bringDataset(connection: Connection, path: string): Promise<StoredFile> {
  await using dataset = await datasetFile(path)
  return await bring(connection, dataset.file)
}

function tablesOf({ tables }: Record<string, unknown>): string {
  const made = tables as { table?: string; name?: string; rows: number; geometry_type?: string | null }[]
  return made
    .map(({ table, name, rows, geometry_type: type }) => {
      return `${table ?? name ?? ''}: ${countOf(rows, 'row')}${type === null ? ', no geometry' : ''}`
    })
    .join('\n')
}
