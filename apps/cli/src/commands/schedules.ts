import type { Command } from 'commander'
import { ask, connect } from '../connection.ts'
import { printList, printOne, type Shown } from '../output.ts'
import { onProject } from '../run-task.ts'
import { pagesOf, projectQuery } from './pages.ts'

interface Options {
  readonly profile?: string
  readonly json?: boolean
}

/** `terrane schedules list|pause|resume|delete`. */
export function scheduleCommands(program: Command): void {
  const schedules = program.command('schedules').description('Jobs that run again and again.')
  onProject(schedules.command('list').description('All schedules, with their next time.')).action(list)
  onProject(schedules.command('pause <id>').description('Pause a schedule.')).action(set(true))
  onProject(schedules.command('resume <id>').description('Let a paused schedule run again.')).action(set(false))
  onProject(schedules.command('delete <id>').description('Delete a schedule; its jobs stay.')).action(remove)
  schedules.addHelpText(
    'after',
    '\nThe commands that run a task make one with --schedule:\n  $ terrane import https://example.org/parcels.gpkg --replace --schedule @daily',
  )
}

async function list({ profile, json }: Options): Promise<void> {
  const found = await pagesOf<Shown>(await connect(profile), '/worker/schedules')
  printList(found, ['id', 'taskName', 'name', 'cron', 'timeZone', 'paused', 'next_run_at', 'skipped'], json)
}

function set(paused: boolean): (id: string, options: Options) => Promise<void> {
  return async (id, { profile, json }) => {
    const connection = await connect(profile)
    const path = `/worker/schedules/${encodeURIComponent(id)}${projectQuery(connection)}`
    await ask(connection, path, { method: 'PATCH', body: JSON.stringify({ paused }) })
    printOne({ id, paused }, id, json)
  }
}

async function remove(id: string, { profile, json }: Options): Promise<void> {
  const connection = await connect(profile)
  await ask(connection, `/worker/schedules/${encodeURIComponent(id)}${projectQuery(connection)}`, { method: 'DELETE' })
  printOne({ id }, id, json)
}
