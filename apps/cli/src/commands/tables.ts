import { TerraneError } from '@terrane/core/errors'
import { Option, type Command } from 'commander'
import { ask, connect, type Connection } from '../connection.ts'
import { printEach, printList, type Shown } from '../output.ts'
import { onProject, type ProjectOptions } from '../run-task.ts'

interface Options extends ProjectOptions {
  readonly schema: string
  readonly with: 'anon' | 'authenticated'
  readonly yes?: boolean
}

/** `terrane tables list|share|unshare|drop`. */
export function tableCommands(program: Command): void {
  const tables = program.command('tables').description('List, share and drop tables.')
  onProject(tables.command('list').description('List tables and views, with rows, size and readers.')).action(list)
  onTable(
    tables.command('share <tables...>').description('Let a role read all rows of tables; * stands for any characters.'),
  )
    .addOption(role())
    .addHelpText(
      'after',
      "\nExamples:\n  $ terrane tables share roads 'porto_*' --with anon\n  $ terrane tables share scene --schema geoembeddings --with anon",
    )
    .action(change('share_table'))
  onTable(tables.command('unshare <tables...>').description('Undo share.'))
    .addOption(role())
    .action(change('unshare_table'))
  onTable(tables.command('drop <tables...>').description('Delete tables and their rows; * stands for any characters.'))
    .option('--yes', 'confirm the deletion, which cannot be undone')
    .addHelpText(
      'after',
      "\nExamples:\n  $ terrane tables drop roads parcels --yes\n  $ terrane tables drop 'porto_*' --yes",
    )
    .action(drop)
}

function onTable(command: Command): Command {
  return onProject(command).option('--schema <name>', 'its schema', 'public')
}

function role(): Option {
  return new Option('--with <role>', 'anon: everyone with the public key; authenticated: signed-in users')
    .choices(['anon', 'authenticated'])
    .makeOptionMandatory()
}

async function list({ profile, json }: Options): Promise<void> {
  printList(
    await listTables(await connect(profile)),
    ['table_schema', 'table_name', 'kind', 'geometry_type', 'rows', 'bytes', 'shared_with'],
    json,
  )
}

function change(rpc: 'share_table' | 'unshare_table'): (names: string[], options: Options) => Promise<void> {
  return async (names, { profile, schema, with: to, json }) => {
    const connection = await connect(profile)
    const apply = async (table: string) => {
      const before = await readersOf(connection, schema, table)
      await call(connection, rpc, { p_schema: schema, p_table: table, p_role: to })
      return { table: `${schema}.${table}`, readers: await readersOf(connection, schema, table), before }
    }
    await printEach(await namedTables(connection, schema, names), apply, lineOfReaders, json)
  }
}

function lineOfReaders({ table, readers, before }: { table: string; readers: string[]; before: string[] }): string {
  return `${table}: read by ${readers.join(', ')} (before: ${before.join(', ')})`
}

/** Name of a table without its schema: `public.roads` is `roads`. */
export function withoutSchema(name: string, schema: string): string {
  return name.startsWith(`${schema}.`) ? name.slice(schema.length + 1) : name
}

/** Tables by names and patterns, with or without their schema; only patterns are looked up. @throws TABLE_NOT_FOUND */
export async function namedTables(connection: Connection, schema: string, given: readonly string[]): Promise<string[]> {
  const names = given.map((name) => withoutSchema(name, schema))
  return names.some((name) => name.includes('*'))
    ? matching(await listTables(connection), schema, names)
    : [...new Set(names)]
}

async function listTables(connection: Connection): Promise<Shown[]> {
  return (await call(connection, 'list_tables', {})) as Shown[]
}

/** Roles that may read a table, besides its owner if it has one. */
async function readersOf(connection: Connection, schema: string, table: string): Promise<string[]> {
  const found = (await listTables(connection)).find((row) => row.table_schema === schema && row.table_name === table)
  const roles = (found?.shared_with ?? []) as readonly string[]
  return [...roles, 'service_role']
}

/** Deletes tables of schema public and their rows. */
export async function dropTables(connection: Connection, tables: readonly string[]): Promise<void> {
  for (const table of tables) await call(connection, 'drop_table', { p_schema: 'public', p_table: table })
}

async function drop(names: string[], { profile, schema, yes, json }: Options): Promise<void> {
  const connection = await connect(profile)
  const tables = await namedTables(connection, schema, names)
  if (!yes) {
    const said = tables.map((table) => `${schema}.${table}`).join(', ')
    const [what, whose] = tables.length === 1 ? ['', 'its'] : [`${tables.length} tables, `, 'their']
    throw new TerraneError('NOT_CONFIRMED', 'invalid', `${what}${said} would be deleted with all ${whose} rows`, {
      hint: 'Add --yes to do it.',
    })
  }
  const dropOne = async (table: string) => {
    await call(connection, 'drop_table', { p_schema: schema, p_table: table })
    return { table: `${schema}.${table}` }
  }
  await printEach(tables, dropOne, ({ table }) => table, json)
}

/** Tables of a schema that match names and patterns; views are not dropped. @throws TABLE_NOT_FOUND */
function matching(tables: readonly Shown[], schema: string, names: readonly string[]): string[] {
  const there = tables
    .filter((row) => row['table_schema'] === schema && row['kind'] !== 'view')
    .map((row) => String(row['table_name']))
  const found = names.flatMap((name) => {
    if (!name.includes('*')) return [name]
    const fitting = there.filter((table) => fits(table, name))
    if (fitting.length > 0) return fitting
    throw new TerraneError('TABLE_NOT_FOUND', 'not_found', `No table of ${schema} is named like ${name}`, {
      hint: 'terrane tables list shows all tables.',
    })
  })
  return [...new Set(found)]
}

/** Whether a name matches a pattern, in which * stands for any characters. */
function fits(name: string, pattern: string): boolean {
  const [start = '', ...others] = pattern.split('*')
  const end = others.pop() ?? ''
  if (!name.startsWith(start) || !name.endsWith(end) || name.length < start.length + end.length) return false
  let at = start.length
  for (const part of others) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= name.length - end.length
}

function call(connection: Connection, rpc: string, body: object): Promise<unknown> {
  const headers = { 'content-profile': 'geoembeddings' }
  return ask(connection, `/rest/v1/rpc/${rpc}`, { method: 'POST', headers, body: JSON.stringify(body) })
}
