import type { TerraneError } from '@terrane/core'
import { ask, connect, type Connection } from '../connection.ts'
import { fine, wrong, type CheckContext, type Finding } from './finding.ts'

const MOST_CLOCK_DIFFERENCE_MS = 30_000

/** The project of commands: whether it answers, is ready and accepts the key. */
export async function services({ env, profile }: CheckContext): Promise<Finding[]> {
  let connection: Connection
  try {
    connection = await connect(profile, env)
  } catch (error) {
    const { message, hint } = error as TerraneError
    return [wrong('profile', message, hint ?? 'Correct it.')]
  }
  return await connectionFindings(connection)
}

/** Checks the health of a project's services. */
async function connectionFindings(connection: Connection): Promise<Finding[]> {
  let ready: Response
  try {
    ready = await fetch(`${connection.url}/worker/health/ready`, { signal: AbortSignal.timeout(5000) })
  } catch {
    return [
      wrong(
        'worker',
        `nothing answers at ${connection.url}`,
        'Start the stack with `npm start` in a clone, or correct the address of the profile.',
      ),
    ]
  }
  const findings = [...clock(ready)]
  const text = await ready.text()
  if (!ready.ok) {
    const down = Object.entries(checksIn(text)).filter(([, state]) => state !== 'ok')
    const what = down.map(([name, state]) => `${name} is ${state}`).join(', ') || `status ${ready.status}`
    return [
      ...findings,
      wrong('worker', `it is not ready: ${what}`, 'Wait a minute after a start; otherwise read the log of the worker.'),
    ]
  }
  try {
    const { queued, running, workers } = (await ask(connection, '/worker/capacity')) as Record<string, number>
    findings.push(fine('worker', `${running} of ${workers} at work, ${queued} jobs wait`))
    if (workers === 0 && (queued ?? 0) > 0)
      findings.push(
        wrong(
          'queue',
          `${queued} jobs wait and no worker takes any`,
          'Start a worker that runs jobs (TERRANE_WORKER_CONCURRENCY above 0).',
        ),
      )
  } catch (error) {
    findings.push(
      wrong(
        'key',
        `the worker refuses the key: ${(error as Error).message}`,
        'Use the service-role key of this project; keys change when keys.json is created again.',
      ),
    )
  }
  return findings
}

function clock(response: Response): Finding[] {
  const there = Date.parse(response.headers.get('date') ?? '')
  const apart = Math.abs(there - Date.now())
  if (!(apart > MOST_CLOCK_DIFFERENCE_MS)) return []
  return [
    wrong(
      'clock',
      `the clocks of this machine and the server are ${Math.round(apart / 1000)} s apart`,
      'Synchronise both with NTP: tokens expire.',
    ),
  ]
}

function checksIn(text: string): Record<string, string> {
  try {
    return (JSON.parse(text) as { checks?: Record<string, string> }).checks ?? {}
  } catch {
    return {}
  }
}
