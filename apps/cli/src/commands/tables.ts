import { TerraneError } from '@terrane/core'
import { Option, type Command } from 'commander'
import { ask, connect, type Connection } from '../connection.ts'
import { print, printList, type Shown } from '../output.ts'
import { onProject } from '../run-task.ts'

interface Options {
  readonly profile?: string
  readonly json?: boolean
  readonly schema: string
  readonly with: string
  readonly yes?: boolean
}

/** `terrane tables list|share|unshare|drop`. */
export function tableCommands(program: Command): void {
  const tables = program.command('tables').description('Tables of a project: what is there, and who may read it.')
  onProject(tables.command('list').description('All tables and views, with rows and size.')).action(list)
  onTable(tables.command('share <table>').description('Let others read all rows of a table.'))
    .addOption(role())
    .addHelpText('after', '\nExample:\n  $ terrane tables share roads --with anon')
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
  return new Option('--with <role>', 'who').choices(['anon', 'authenticated']).default('anon')
}

async function list({ profile, json }: Options): Promise<void> {
  const found = (await call(await connect(profile), 'list_tables', {})) as Shown[]
  printList(found, ['table_schema', 'table_name', 'kind', 'geometry_type', 'rows', 'bytes', 'shared_with'], json)
}

function change(rpc: 'share_table' | 'unshare_table'): (table: string, options: Options) => Promise<void> {
  return async (table, { profile, schema, with: to }) => {
    await call(await connect(profile), rpc, { p_schema: schema, p_table: table, p_role: to })
    print(`${schema}.${table}`)
  }
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
