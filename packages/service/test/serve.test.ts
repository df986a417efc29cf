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
