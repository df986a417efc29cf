import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'

test('a caller with an open connection is answered once more after a stop was requested', async () => {
  const program = join(import.meta.dirname, 'fixtures/patient.ts')
  const child = fork(program, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ask = async () => {
    const sent = request(url, { agent }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    return { status: response.statusCode, connection: response.headers.connection, reused: sent.reusedSocket }
  }
  expect(await ask()).toEqual({ status: 200, connection: 'keep-alive', reused: false })
  child.kill('SIGTERM')
  for await (const line of createInterface({ input: child.stdout! })) if (line.includes('stopping')) break
  expect(await ask()).toEqual({ status: 200, connection: 'close', reused: true })
  expect(await exited).toEqual([0, null])
})

async function startWorker(drainTimeoutMs: number) {
  const program = join(import.meta.dirname, 'fixtures/worker.ts')
  const child = fork(program, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { DRAIN_TIMEOUT_MS: String(drainTimeoutMs) },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return { child, exited, url, lines: createInterface({ input: child.stdout! })[Symbol.asyncIterator]() }
}

/** Reads lines until one has the text; returns what was read. */
async function readTo(lines: AsyncIterator<string>, text: string): Promise<string> {
  let all = ''
  while (!all.includes(text)) {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the process ended without '${text}': ${all}`)
    all += value
  }
  return all
}

test('a stop ends work first, while the app answers but is not ready, then requests, then the rest', async () => {
  const { child, exited, url, lines } = await startWorker(60_000)
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  child.kill('SIGTERM')
  let log = await readTo(lines, 'phase: work')
  const ready = await fetch(`${url}/health/ready`)
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'stopping', checks: {} }])
  expect((await fetch(`${url}/`)).status).toBe(200)
  await fetch(`${url}/end`, { method: 'POST' })
  log += await readTo(lines, 'phase: closed')
  expect(await exited).toEqual([0, null])
  const phases = [...log.matchAll(/phase: ([a-z ]+)/g)].map(([, phase]) => phase)
  expect(phases).toEqual(['work', 'work ended', 'requests', 'server closed', 'closed'])
})

test('work that does not end is left behind when its part of the time is over', async () => {
  const { child, exited, lines } = await startWorker(500)
  child.kill('SIGTERM')
  const log = await readTo(lines, 'phase: closed')
  expect(log).toContain('shutdown phase ran out of time')
  expect(await exited).toEqual([0, null])
})
