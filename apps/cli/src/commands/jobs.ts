import { JobFailed, TASK_NAMES, TerraneProblem, type AnyJob, type TaskName } from '@terrane/client'
import { TerraneError } from '@terrane/core/errors'
import { Option, type Command } from 'commander'
import { whole } from '../arguments.ts'
import { connect, type Connection } from '../connection.ts'
import { note, printList, printOne, progressLine } from '../output.ts'
import { onProject, type ProjectOptions } from '../run-task.ts'
import { readLog } from './job-log.ts'
import { reasonOf } from './why.ts'

interface Options extends ProjectOptions {
  readonly status?: AnyJob['status']
  readonly task?: TaskName
  readonly limit: number
}

/** `terrane jobs list|watch|logs|cancel|retry|why`. */
export function jobCommands(program: Command): void {
  const jobs = program.command('jobs').description('List, watch, explain, retry and cancel jobs.')
  onProject(jobs.command('list').description('The latest jobs, of all tasks.'))
    .addOption(new Option('--task <task>', 'of this task').choices(TASK_NAMES))
    .addOption(new Option('--status <status>', 'in this state').choices(['pending', 'running', 'success', 'failed']))
    .option('--limit <number>', 'most jobs of a task', whole, 10)
    .addHelpText('after', '\nExamples:\n  $ terrane jobs list --status failed\n  $ terrane jobs list --json')
    .action(list)
  onProject(
    jobs
      .command('watch <id>')
      .description('Show the progress of a job until it ends; Ctrl-C stops watching, not the job.'),
  ).action(watch)
  onProject(jobs.command('logs <id>').description('Print the log of a job.')).action(logs)
  onProject(jobs.command('cancel <id>').description('Cancel a job.')).action(cancel)
  onProject(jobs.command('retry <id>').description('Queue a failed job again; prints the id of the new one.')).action(
    retry,
  )
  onProject(jobs.command('why <id>').description('Explain why a job failed or waits, and what to do.')).action(why)
}

async function list({ profile, json, status, task, limit }: Options): Promise<void> {
  const { client } = await connect(profile)
  const names = task === undefined ? TASK_NAMES : [task]
  const pages = await Promise.all(names.map((name) => client.jobs.list(name, { limit, ...(status && { status }) })))
  const found = pages.flatMap(({ data }) => data as readonly AnyJob[])
  const rows = found.toSorted((a, b) => b.created_at.localeCompare(a.created_at)).map(shown)
  printList(rows, ['id', 'task', 'status', 'percent', 'created_at', 'error'], json)
}

async function watch(id: string, { profile, json }: Options): Promise<void> {
  const { client } = await connect(profile)
  const { taskName, id: full } = await find(client, id)
  const line = progressLine()
  try {
    await client.jobs.wait(taskName, full, { onProgress: ({ percent, message }) => line.show(percent, message) })
  } catch (error) {
    if (!(error instanceof JobFailed)) throw error
    process.exitCode = 1
  } finally {
    line.end()
  }
  const job = await client.jobs.get(taskName, full)
  printOne(shown(job), `${job.status}${job.error ? `: ${job.error.message}` : ''}`, json)
}

async function logs(id: string, { profile, json }: Options): Promise<void> {
  const connection = await connect(profile)
  const { taskName, id: full } = await find(connection.client, id)
  const lines = await readLog(connection, taskName, full)
  if (json) return printList(lines as never, [], true)
  for (const { at, level, message } of lines) printOne({}, `${at}  ${level.padEnd(7)}  ${message}`, false)
}

async function cancel(id: string, { profile, json }: Options): Promise<void> {
  const { client } = await connect(profile)
  const { taskName, id: full } = await find(client, id)
  const job = await client.jobs.cancel(taskName, full)
  printOne(shown(job), job.status === 'running' ? 'stopping' : job.status, json)
}

async function retry(id: string, { profile, json }: Options): Promise<void> {
  const { client } = await connect(profile)
  const { taskName, id: full } = await find(client, id)
  const job = await client.jobs.retry(taskName, full)
  printOne(shown(job), job.id, json)
  note(`terrane jobs watch ${job.id} shows its progress.`)
}

async function why(id: string, { profile, json }: Options): Promise<void> {
  const connection = await connect(profile)
  const job = await find(connection.client, id)
  const reasons = await reasonOf(connection, job)
  const { attempt, max_attempts, error } = job
  const facts = { attempt, max_attempts, hint: error?.hint ?? null, details: error?.details ?? null, reasons }
  printOne({ ...shown(job), ...facts }, reasons.join('\n'), json)
}

/** A job by its id, for any task. @throws JOB_NOT_FOUND */
async function find(client: Connection['client'], id: string): Promise<AnyJob> {
  const answers = await Promise.all(
    TASK_NAMES.map((task) =>
      client.jobs.get(task, id).catch((error: unknown) => {
        if (error instanceof TerraneProblem && error.status === 404) return null
        throw error
      }),
    ),
  )
  const job = answers.find((one) => one !== null)
  if (job) return job
  throw new TerraneError('JOB_NOT_FOUND', 'not_found', `There is no job ${id}`, {
    hint: 'terrane jobs list shows what there is.',
  })
}

function shown(job: AnyJob) {
  return {
    id: job.id,
    task: job.taskName,
    status: job.status,
    percent: job.progress?.percent ?? null,
    created_at: job.created_at,
    error: job.error?.code ?? null,
  }
}
