import { Option, type Command } from 'commander'
import { TASK_NAMES } from '@terrane/client'
import { ask, connect } from '../connection.ts'
import { note, printList, printOne, type Shown } from '../output.ts'
import { onProject, type ProjectOptions } from '../run-task.ts'
import { targetOf } from './hooks.ts'
import { onRecord, pagesOf, projectQuery } from './pages.ts'

const PATH = '/worker/webhooks'

interface Options extends ProjectOptions {
  readonly task?: readonly string[]
  readonly status?: readonly string[]
}

/** `terrane webhooks list|create|delete|deliveries`. */
export function webhookCommands(program: Command): void {
  const webhooks = program.command('webhooks').description('URLs that are called when jobs end.')
  onProject(webhooks.command('list').description('All webhooks.')).action(list)
  onProject(
    webhooks.command('create <target>').description('Call a URL or a function when jobs end; prints the secret once.'),
  )
    .addOption(new Option('--task <task...>', 'only for these tasks (default: all)').choices(TASK_NAMES))
    .addOption(
      new Option('--status <status...>', 'only for these outcomes (default: both)').choices(['success', 'failed']),
    )
    .addHelpText('after', '\nExample:\n  $ terrane webhooks create https://example.org/hook --status failed')
    .action(create)
  onProject(webhooks.command('deliveries <id>').description('Deliveries of a webhook, with the responses.')).action(
    deliveries,
  )
  onProject(webhooks.command('delete <id>').description('Delete a webhook.')).action(onRecord(PATH, null))
}

async function list({ profile, json }: Options): Promise<void> {
  const found = await pagesOf<Shown>(await connect(profile), PATH)
  printList(found, ['id', 'url', 'tasks', 'statuses', 'paused'], json)
}

async function create(target: string, { profile, json, task, status }: Options): Promise<void> {
  const connection = await connect(profile)
  const body = { ...targetOf(target), ...(task && { tasks: task }), ...(status && { statuses: status }) }
  const path = PATH + projectQuery(connection)
  const made = (await ask(connection, path, { method: 'POST', body: JSON.stringify(body) })) as Shown
  printOne(made, String(made['secret']), json)
  note(`Its id is ${String(made['id'])}. The secret signs each call and is not shown again.`)
}

async function deliveries(id: string, { profile, json }: Options): Promise<void> {
  const found = await pagesOf<Shown>(await connect(profile), `${PATH}/${encodeURIComponent(id)}/deliveries`)
  printList(
    found,
    Object.keys(found[0] ?? {}).filter((name) => !isNested(found[0]?.[name])),
    json,
  )
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
