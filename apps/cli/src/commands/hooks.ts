import { Option, type Command } from 'commander'
import { ask, connect } from '../connection.ts'
import { note, printList, printOne, type Shown, countOf } from '../output.ts'
import { onProject, type ProjectOptions } from '../run-task.ts'
import { onRecord, pagesOf, projectQuery } from './pages.ts'

interface Options extends ProjectOptions {
  readonly on?: readonly string[]
  readonly columns?: readonly string[]
  readonly where?: readonly string[]
  readonly schema?: string
  readonly attempts?: string
  readonly hook?: string
}

const PATH = '/worker/table-hooks'

/** `terrane hooks list|create|pause|resume|delete|dead|resend`. */
export function hookCommands(program: Command): void {
  const hooks = program.command('hooks').description('Functions and URLs that are called when rows of a table change.')
  onProject(hooks.command('list').description('All table hooks.')).action(list)
  onProject(
    hooks
      .command('create <table> <target>')
      .description('Call a function of the project, or a URL, for each change; prints the secret once.'),
  )
    .addOption(new Option('--on <change...>', 'only for these (default: all)').choices(['insert', 'update', 'delete']))
    .option('--columns <name...>', 'updates only if one of these columns changes')
    .option('--where <column=value...>', 'rows that have these values; JSON, or else text')
    .option('--schema <name>', 'schema of the table (default: public)')
    .option('--attempts <count>', 'attempts until an event is a dead letter (default: 15)')
    .addHelpText('after', '\nExample:\n  $ terrane hooks create orders send-receipt --on update --where status=paid')
    .action(create)
  onProject(hooks.command('pause <id>').description('Pause a hook.')).action(onRecord(PATH, { paused: true }))
  onProject(hooks.command('resume <id>').description('Resume a paused hook.')).action(onRecord(PATH, { paused: false }))
  onProject(hooks.command('delete <id>').description('Delete a table hook and its events.')).action(
    onRecord(PATH, null),
  )
  onProject(hooks.command('dead').description('Dead letters: events that no attempt delivered.'))
    .option('--hook <id>', 'only those of a table hook')
    .action(dead)
  onProject(hooks.command('resend [ids...]').description('Send dead letters again.'))
    .option('--hook <id>', 'all of a table hook')
    .action(resend)
}

async function list({ profile, json }: Options): Promise<void> {
  const found = await pagesOf<Shown>(await connect(profile), PATH)
  printList(found, ['id', 'table', 'events', 'url', 'paused', 'waiting', 'dead'], json)
}

async function create(table: string, target: string, options: Options): Promise<void> {
  const { profile, json, on, columns, where, schema, attempts } = options
  const connection = await connect(profile)
  const body = {
    table,
    ...targetOf(target),
    ...(on && { events: on.map((change) => change.toUpperCase()) }),
    ...(columns && { columns }),
    ...(where && { where: Object.fromEntries(where.map(condition)) }),
    ...(schema !== undefined && { schema }),
    ...(attempts !== undefined && { attempts: Number(attempts) }),
  }
  const request = { method: 'POST', body: JSON.stringify(body) }
  const made = (await ask(connection, PATH + projectQuery(connection), request)) as Shown
  printOne(made, String(made['secret']), json)
  note(`Its id is ${String(made['id'])}. The secret signs each call and is not shown again.`)
}

async function dead({ profile, json, hook }: Options): Promise<void> {
  const found = await pagesOf<Shown>(await connect(profile), '/worker/dead-letters')
  const shown = hook === undefined ? found : found.filter(({ lane }) => lane === `hook:${hook}`)
  printList(shown, ['id', 'lane', 'key', 'attempts', 'error', 'dead_at'], json)
}

async function resend(ids: readonly string[], { profile, json, hook }: Options): Promise<void> {
  const connection = await connect(profile)
  const body = JSON.stringify({ ...(ids.length > 0 && { ids }), ...(hook !== undefined && { lane: `hook:${hook}` }) })
  const path = `/worker/dead-letters/resend${projectQuery(connection)}`
  const done = (await ask(connection, path, { method: 'POST', body })) as Shown
  printOne(done, `${countOf(done['count'], 'event')} sent again`, json)
}

/** An address, or the name of a function. */
export function targetOf(target: string): { readonly url: string } | { readonly function: string } {
  return target.includes('://') ? { url: target } : { function: target }
}

function condition(text: string): [string, unknown] {
  const [name = '', ...rest] = text.split('=')
  const value = rest.join('=')
  try {
    return [name, JSON.parse(value)]
  } catch {
    return [name, value]
  }
}
