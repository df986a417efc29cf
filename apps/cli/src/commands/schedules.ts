import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { printList, type Shown } from '../output.ts'
import { onProject, type ProjectOptions } from '../run-task.ts'
import { onRecord, pagesOf } from './pages.ts'

const PATH = '/worker/schedules'

/** `terrane schedules list|pause|resume|delete`. */
export function scheduleCommands(program: Command): void {
  const schedules = program.command('schedules').description('Jobs that run again and again.')
  onProject(schedules.command('list').description('All schedules, with their next time.')).action(list)
  onProject(schedules.command('pause <id>').description('Pause a schedule.')).action(onRecord(PATH, { paused: true }))
  onProject(schedules.command('resume <id>').description('Let a paused schedule run again.')).action(
    onRecord(PATH, { paused: false }),
  )
  onProject(schedules.command('delete <id>').description('Delete a schedule; its jobs stay.')).action(
    onRecord(PATH, null),
  )
  schedules.addHelpText(
    'after',
    '\nThe commands that run a task make one with --schedule:\n  $ terrane import https://example.org/parcels.gpkg --replace --schedule @daily',
  )
}

async function list({ profile, json }: ProjectOptions): Promise<void> {
  const found = await pagesOf<Shown>(await connect(profile), PATH)
  printList(found, ['id', 'taskName', 'name', 'cron', 'timeZone', 'paused', 'next_run_at', 'skipped'], json)
}
