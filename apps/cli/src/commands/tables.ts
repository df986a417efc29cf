import { TerraneError } from '@terrane/core'
import { Option, type Command } from 'commander'
import { ask, connect, type Connection } from '../connection.ts'
import { print, printList, type Shown } from '../output.ts'
import { onProject } from '../run-task.ts'

interface Options {
  readonly profile?: string
  readonly json?: boolean
  readonly schema: string
  readonly with: 'anon' | 'authenticated'
  readonly yes?: boolean
}

/** `terrane tables list|share|unshare|drop`. */
export function tableCommands(program: Command): void {
  const tables = program.command('tables').description('Tables of a project: what is there, and who may read it.')
  onProject(tables.command('list').description('All tables and views, with rows and size.')).action(list)
  onTable(tables.command('share <table>').description('Let others read all rows of a table.'))
    .addOption(role())
    .addHelpText(
      'after',
      '\nExamples:\n  $ terrane tables share roads --with anon\n  $ terrane tables share scene --schema geoembeddings --with anon',
    )
    .action(change('share_table'))
  onTable(tables.command('unshare <table>').description('Take back what `share` gave.'))
    .addOption(role())
    .action(change('unshare_table'))
  onTable(tables.command('drop <table>').description('Delete a table and its rows.'))
    .option('--yes', 'do it; there is no way back')
    .action(drop)
}

function onTable(command: Command): Command {
  return onProject(command).option('--schema <name>', 'its schema', 'public')
}

function role(): Option {
  return new Option('--with <role>', 'anon: everybody with the public key; authenticated: users who are signed in')
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

function change(rpc: 'share_table' | 'unshare_table'): (table: string, options: Options) => Promise<void> {
  return async (table, { profile, schema, with: to }) => {
    const connection = await connect(profile)
    const before = await readersOf(connection, schema, table)
    await call(connection, rpc, { p_schema: schema, p_table: table, p_role: to })
    const now = await readersOf(connection, schema, table)
    print(`${schema}.${table}: read by ${now}; before: ${before}`)
  }
}

async function listTables(connection: Connection): Promise<Shown[]> {
  return (await call(connection, 'list_tables', {})) as Shown[]
}

/** Roles that read a table, beside its owner where it has one. */
async function readersOf(connection: Connection, schema: string, table: string): Promise<string> {
  const found = (await listTables(connection)).find((row) => row.table_schema === schema && row.table_name === table)
  const roles = (found?.shared_with ?? []) as readonly string[]
  return [...roles, 'service_role'].join(', ')
}

async function drop(table: string, { profile, schema, yes }: Options): Promise<void> {
  if (!yes) {
    throw new TerraneError('NOT_CONFIRMED', 'invalid', `${schema}.${table} would be deleted with all its rows`, {
      hint: 'Add --yes to do it.',
    })
  }
  await call(await connect(profile), 'drop_table', { p_schema: schema, p_table: table })
  print(`${schema}.${table}`)
}

function call(connection: Connection, rpc: string, body: object): Promise<unknown> {
  const headers = { 'content-profile': 'geoembeddings' }
  return ask(connection, `/rest/v1/rpc/${rpc}`, { method: 'POST', headers, body: JSON.stringify(body) })
}
