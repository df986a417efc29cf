import { open } from 'node:fs/promises'
import { TerraneError } from '@terrane/core/errors'
import { documentOf, tablesOf, type MapDocument } from '@terrane/map-style'
import { Option, type Command } from 'commander'
import { ask, connect, type Connection } from '../connection.ts'
import { note, printOne } from '../output.ts'
import { layerDefinition, mapDefinition } from '../qgis/layer-definition.ts'
import { onProject, type ProjectOptions } from '../run-task.ts'
import { namedTables } from './tables.ts'

interface Options extends ProjectOptions {
  readonly file: string
  readonly schema: string
  readonly role: 'anon' | 'service'
  readonly map?: string
}

/** `terrane qgis`. */
export function qgisCommand(program: Command): void {
  onProject(
    program
      .command('qgis [tables...]')
      .description(
        'Write a layer definition for QGIS: features and tiles of tables, all that the key reads by default, or a map.',
      ),
  )
    .option('--schema <name>', 'their schema', 'public')
    .option('--file <path>', 'the file', 'terrane.qlr')
    .option('--map <title or id>', 'the layers of a map in its colours, instead of tables')
    .addOption(
      new Option('--role <role>', 'the key in the file; service is a secret')
        .choices(['anon', 'service'])
        .default('anon'),
    )
    .addHelpText(
      'after',
      "\nExamples:\n  $ terrane qgis\n  $ terrane qgis roads 'porto_*' --file town.qlr\n  $ terrane qgis --map 'Population' --role service",
    )
    .action(qgis)
}

async function qgis(names: readonly string[], options: Options): Promise<void> {
  const { profile, file, schema, role, map: wantedMap, json } = options
  if (wantedMap !== undefined && names.length > 0)
    throw new TerraneError('OPTIONS_CONFLICT', 'invalid', 'Tables and --map cannot be combined', {
      hint: 'Leave out --map, or the tables.',
    })
  const connection = await connect(profile)
  const key = role === 'anon' ? connection.anonKey : connection.key
  if (key === undefined)
    throw new TerraneError('KEY_UNKNOWN', 'invalid', 'The anon key of the project is not known', {
      hint: 'Set TERRANE_ANON_KEY, or use --role service.',
    })
  const readable = await readableTables({ ...connection, key })
  if (wantedMap !== undefined) return qgisOfMap(connection, { ...options, map: wantedMap, key, readable })
  const tables = await namedTables(connection, schema, names)
  const wanted = tables.length === 0 ? readable : tables.map((table) => `${schema}.${table}`)
  const missing = wanted.filter((id) => !readable.includes(id))
  if (wanted.length === 0 || missing.length > 0)
    throw new TerraneError(
      'TABLE_NOT_READABLE',
      'invalid',
      `The ${role} key reads no table ${missing.join(', ')}`.trim(),
      {
        hint: 'Share it (terrane tables share … --with anon), or use --role service.',
      },
    )
  await writeFile(file, layerDefinition(connection.url, key, wanted))
  const said = wanted.length > 5 ? `${wanted.length} tables` : wanted.join(', ')
  printOne({ file, tables: wanted }, `${file}: features and tiles of ${said}`, json)
}

interface OfMap extends Options {
  readonly map: string
  readonly key: string
  /** Tables that the key reads. */
  readonly readable: readonly string[]
}

async function qgisOfMap(connection: Connection, { file, role, map: wanted, key, readable, json }: OfMap) {
  const map = await readMap(connection, wanted)
  const { xml, unreadable } = mapDefinition(connection.url, key, map)
  await writeFile(file, xml)
  const warnings = [
    ...tablesOf(map)
      .filter((table) => !readable.includes(table))
      .map((table) => `The ${role} key reads no table ${table}. Share it, or use --role service.`),
    ...unreadable.map(
      (title) =>
        `QGIS cannot read ${title}: its address has an escaped &, # or ?. Rename the file or table, or change the filter.`,
    ),
  ]
  warnings.forEach(note)
  const said = `${file}: ${map.layers.length} layers of the map ${map.title}`
  printOne({ file, map: map.title, warnings }, said, json)
}

/** Writes a file that other users of the machine cannot read, because it has a key; also when it existed already. */
async function writeFile(path: string, text: string): Promise<void> {
  await using handle = await open(path, 'w', 0o600)
  await handle.chmod(0o600)
  await handle.writeFile(text)
}

/** The latest map of a title, or the map of an id. @throws MAP_NOT_FOUND */
async function readMap(connection: Connection, wanted: string): Promise<MapDocument> {
  const by = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/.test(wanted) ? 'id' : 'title'
  const query = new URLSearchParams({ [by]: `eq.${wanted}`, select: 'style', order: 'updated_at.desc', limit: '1' })
  const headers = { 'accept-profile': 'geoembeddings' }
  const [found] = (await ask(connection, `/rest/v1/maps?${query.toString()}`, { headers })) as { style: unknown }[]
  if (found) return documentOf(found.style)
  throw new TerraneError('MAP_NOT_FOUND', 'invalid', `There is no map ${wanted}`, {
    hint: 'Name a map by its title, or by the id in the address of its page.',
  })
}

/** Names of the tables with a geometry that a key may read, with their schemas. */
async function readableTables(connection: Connection): Promise<string[]> {
  const { collections } = (await ask(connection, '/ogc/v1/collections?f=json')) as { collections: { id: string }[] }
  return collections.map(({ id }) => id)
}
