import { once } from 'node:events'
import { basename, extname } from 'node:path'
import type { InputOf } from '@terrane/client'
import { TerraneError } from '@terrane/core/errors'
import { Option, type Command } from 'commander'
import { connect, stream as open } from '../connection.ts'
import { fetchAway, placeFor, replaceFile } from '../files.ts'
import { countOf, note } from '../output.ts'
import { onProject, runTask, type TaskOptions } from '../run-task.ts'
import { withoutSchema } from './tables.ts'

type Format = NonNullable<InputOf<'exportTable'>['format']>

interface Options extends TaskOptions {
  readonly schema: string
  readonly format?: Format
  readonly columns?: string
  readonly filter?: string
  readonly stream?: boolean
}

/** Formats by file extension. */
const FORMATS: Readonly<Record<string, Format>> = {
  '.gpkg': 'GeoPackage',
  '.geojson': 'GeoJSON',
  '.geojsonl': 'GeoJSONSeq',
  '.parquet': 'GeoParquet',
  '.fgb': 'FlatGeobuf',
  '.csv': 'CSV',
  '.zip': 'Shapefile',
  '.tif': 'COG',
}

/** `terrane export`. */
export function exportCommand(program: Command): void {
  const formats = Object.entries(FORMATS).map((pair) => pair.join(' '))
  onProject(
    program
      .command('export <table> [file]')
      .description('Write a table to a file; the extension chooses the format. Without a file, to standard output.'),
  )
    .option('--schema <name>', 'its schema', 'public')
    .addOption(
      new Option('--format <name>', 'format, in place of the extension (default without a file: GeoJSON)').choices(
        Object.values(FORMATS),
      ),
    )
    .option('--columns <names>', 'only these columns, separated by commas')
    .option('--filter <query>', 'only these rows, with the filters of /rest/v1, e.g. population=gt.1000')
    .option('--stream', 'stream the rows: no job and no file in storage')
    .addHelpText(
      'after',
      `\n${formats.join(', ')}\n\n--columns, --filter and standard output stream. A Shapefile and a COG (of a table of classes) cannot.`,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ terrane export roads roads.gpkg\n  $ terrane export roads roads.csv --filter kind=eq.path --columns name,geom' +
        '\n  $ terrane export roads --format GeoJSONSeq | head',
    )
    .action(exportTable)
}

async function exportTable(named: string, file: string | undefined, options: Options): Promise<void> {
  const table = withoutSchema(named, options.schema)
  const format = formatOf(file, options)
  const { columns, filter, stream } = options
  if (file === undefined || columns !== undefined || filter !== undefined || stream) {
    return streamTable(table, file, format, options)
  }
  const connection = await connect(options.profile)
  const stored = await placeFor(connection, basename(file))
  await runTask(
    'exportTable',
    { ...options, watch: true },
    async () => ({ table, schema: options.schema, format, storagePath: stored }),
    ({ rows, bytes }) => `${file}: ${countOf(rows, 'row')}, ${String(bytes)} bytes`,
  )
  await fetchAway(connection, stored, file)
}

function formatOf(file: string | undefined, { format }: Options): Format {
  if (format !== undefined || file === undefined) return format ?? 'GeoJSON'
  const found = FORMATS[extname(file).toLowerCase()]
  if (found !== undefined) return found
  throw new TerraneError('FORMAT_UNKNOWN', 'invalid', `The extension of ${file} is not a known format`, {
    hint: `Extensions: ${Object.keys(FORMATS).join(', ')}; or use --format.`,
  })
}

/** Writes the answer of the project to a file; an existing file is replaced only after the whole answer has arrived. */
async function streamTable(
  table: string,
  file: string | undefined,
  format: Format,
  { profile, schema, columns, filter }: Options,
): Promise<void> {
  const query = new URLSearchParams(filter ?? '')
  query.set('format', format)
  if (columns !== undefined) query.set('columns', columns)
  const path = `/export/v1/${encodeURIComponent(`${schema}.${table}`)}?${query.toString()}`
  const body = await open(await connect(profile), path)
  await (file === undefined ? print(body) : replaceFile(file, body))
  // Losses are counted while rows are sent, so most answers report them in a trailer.
  const warnings = body.headers['x-export-warnings'] ?? body.trailers['x-export-warnings']
  if (warnings) note(`warning: ${String(warnings)}`)
}

async function print(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of body) if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
}
