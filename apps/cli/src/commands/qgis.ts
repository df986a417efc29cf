import { open } from 'node:fs/promises'
import { TerraneError } from '@terrane/core/errors'
import { Option, type Command } from 'commander'
import { ask, connect, type Connection } from '../connection.ts'
import { printOne } from '../output.ts'
import { layerDefinition } from '../qgis/layer-definition.ts'
import { onProject } from '../run-task.ts'
import { namedTables } from './tables.ts'

interface Options {
  readonly profile?: string
  readonly json?: boolean
  readonly file: string
  readonly schema: string
  readonly role: 'anon' | 'service'
}

/** `terrane qgis`. */
export function qgisCommand(program: Command): void {
  onProject(
    program
      .command('qgis [tables...]')
      .description(
        'Write a layer definition for QGIS: features and tiles of tables, all that the key reads by default.',
      ),
  )
    .option('--schema <name>', 'their schema', 'public')
    .option('--file <path>', 'the file', 'terrane.qlr')
    .addOption(
      new Option('--role <role>', 'the key in the file; service is a secret')
        .choices(['anon', 'service'])
        .default('anon'),
    )
    .addHelpText('after', "\nExamples:\n  $ terrane qgis\n  $ terrane qgis roads 'porto_*' --file town.qlr")
    .action(qgis)
}

async function qgis(names: readonly string[], { profile, file, schema, role, json }: Options): Promise<void> {
  const connection = await connect(profile)
  const key = role === 'anon' ? connection.anonKey : connection.key
  if (key === undefined)
    throw new TerraneError('KEY_UNKNOWN', 'invalid', 'The anon key of the project is not known here', {
      hint: 'Set TERRANE_ANON_KEY, or use --role service.',
    })
  const tables = await namedTables(connection, schema, names)
  const readable = await readableTables({ ...connection, key })
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
  // The mode keeps the key from other users of the machine, also when the file existed already.
  await using handle = await open(file, 'w', 0o600)
  await handle.chmod(0o600)
  await handle.writeFile(layerDefinition(connection.url, key, wanted))
  const said = wanted.length > 5 ? `${wanted.length} tables` : wanted.join(', ')
  printOne({ file, tables: wanted }, `${file}: features and tiles of ${said}`, json)
}

/** Names of the tables with a geometry that a key may read, with their schemas. */
async function readableTables(connection: Connection): Promise<string[]> {
  const { collections } = (await ask(connection, '/ogc/v1/collections?f=json')) as { collections: { id: string }[] }
  return collections.map(({ id }) => id)
}
