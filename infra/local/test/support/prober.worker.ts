// Checks the liveness of every app continuously, in its own thread, so that the attacking thread's load does not delay
// the measurement.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** An answer of `/health/live`. */
export interface Probe {
  readonly app: string
  /** Milliseconds on the clock that all threads share. */
  readonly at: number
  readonly ms: number
}

const EVERY_MS = 20
const apps = workerData as readonly { readonly name: string; readonly url: string }[]

async function watch(app: string, url: string): Promise<never> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (;;) {
    const began = performance.now()
    await new Promise<void>((resolve, reject) => {
      request(`${url}/health/live`, { agent }, (response) => response.resume().once('end', resolve))
        .once('error', reject)
        .end()
    }).catch(() => {})
    const ms = performance.now() - began
    parentPort!.postMessage({ app, at: performance.timeOrigin + began, ms } satisfies Probe)
    await sleep(EVERY_MS)
  }
}

await Promise.all(apps.map(({ name, url }) => watch(name, url)))
