import { type InputOf, type TaskName, JobFailed } from '@terrane/client'
import type { Command } from 'commander'
import { ask, connect, type Connection } from './connection.ts'
import { note, printOne, progressLine, withJson } from './output.ts'

/** Options of every command on a project. */
export interface ProjectOptions {
  readonly profile?: string
  readonly json?: boolean
}

/** Options of every command that runs a task. */
export interface TaskOptions extends ProjectOptions {
  readonly watch: boolean
  readonly schedule?: string
  readonly timeZone?: string
}

/** Adds the options of a project to a command. */
export function onProject(command: Command): Command {
  return withJson(command).option('--profile <name>', 'a project of ~/.config/terrane/profiles.json')
}

/** Adds the options of a task to a command. */
export function onTask(command: Command): Command {
  return onProject(command)
    .option('--watch', 'show progress and wait for the end (default)', true)
    .option('--no-watch', 'print the id of the job and return')
    .option('--schedule <cron>', 'run at these times instead of now, e.g. @daily or "30 2 * * *"')
    .option('--time-zone <name>', 'time zone of --schedule, e.g. Europe/Zurich (default: UTC)')
}

/**
 * Runs a task of the project. It prints the progress to standard error and the result to standard output. Ctrl-C
 * cancels the job.
 *
 * @throws JobFailed, TerraneProblem
 */
export async function runTask<Name extends TaskName>(
  task: Name,
  options: TaskOptions,
  input: (connection: Connection) => Promise<InputOf<Name>>,
  said: (result: Record<string, unknown>) => string,
): Promise<void> {
  const connection = await connect(options.profile)
  const body = await input(connection)
  if (options.schedule !== undefined) return makeSchedule(connection, task, options, body)
  const { jobs } = connection.client
  const { id } = await jobs.submit(task, body)
  if (!options.watch) return printOne({ id, task }, id, options.json)
  const result = await watchTask(connection, task, id)
  printOne(result as never, said(result), options.json)
}

/** Waits for a job, shows its progress and warnings; Ctrl-C cancels it. @throws JobFailed, TerraneProblem */
export async function watchTask(connection: Connection, task: TaskName, id: string): Promise<Record<string, unknown>> {
  const { jobs } = connection.client
  const stopped = new AbortController()
  const stop = () => stopped.abort(new Error('cancelled'))
  process.once('SIGINT', stop)
  const line = progressLine()
  try {
    const result = await jobs.wait(task, id, {
      signal: stopped.signal,
      onProgress: ({ percent, message }) => line.show(percent, message),
    })
    line.end()
    for (const { message } of (result as { warnings?: { message: string }[] }).warnings ?? [])
      note(`warning: ${message}`)
    return result
  } catch (error) {
    line.end()
    if (stopped.signal.aborted) await jobs.cancel(task, id)
    if (error instanceof JobFailed) note(`See terrane jobs why ${id}; try again with terrane jobs retry ${id}.`)
    throw error
  } finally {
    process.off('SIGINT', stop)
  }
}

/** Makes a schedule that runs the task, and prints its id. */
async function makeSchedule(
  connection: Connection,
  task: TaskName,
  { schedule, timeZone, json }: TaskOptions,
  body: object,
): Promise<void> {
  const { projectRef } = connection
  const input = { ...body, ...(projectRef !== undefined && { projectTarget: { projectRef } }) }
  const request = { cron: schedule, ...(timeZone !== undefined && { timeZone }), input }
  const made = (await ask(connection, `/worker/schedules/${task}`, {
    method: 'POST',
    body: JSON.stringify(request),
  })) as { id: string; next_run_at: string | null }
  printOne({ id: made.id, task, next_run_at: made.next_run_at }, made.id, json)
  note(`It runs first at ${made.next_run_at ?? 'no time'}. terrane schedules list shows all.`)
}
