import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openTestDatabase, testLane } from '@terrane/database/testing'
import { migratedSnapshot } from './embedded-lane.ts'
import { Engine } from './engines.ts'

const isEmbedded = testLane() === 'pglite'

test.runIf(isEmbedded)('after the loss of their process engines are started in another', async () => {
  const first = await openTestDatabase()
  await first[Symbol.asyncDispose]()
  const lost = await Engine.start(await migratedSnapshot())
  const waiting = lost.rewind()
  process.kill(lost.pid!, 'SIGKILL')
  const reason = 'the process of the embedded databases ended: SIGKILL'
  await expect(waiting).rejects.toThrow(reason)
  await expect(lost.rewind()).rejects.toThrow(reason)
  await using second = await openTestDatabase()
  expect((await second.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

/** Starts an engine from another process and returns that process and the port of the engine. */
async function startElsewhere() {
  const program = fileURLToPath(new URL('../../test/engine-owner.ts', import.meta.url))
  const owner = fork(program, [await migratedSnapshot()], { execArgv: [] })
  const [url] = (await once(owner, 'message')) as [string]
  return { owner, port: Number(new URL(url).port) }
}

async function isServed(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

test.runIf(isEmbedded).each([
  ['is killed', (owner: ChildProcess) => owner.kill('SIGKILL')],
  ['has nothing more to do', (owner: ChildProcess) => owner.disconnect()],
])('engines end when the process that started them %s', async (_, end) => {
  const { owner, port } = await startElsewhere()
  expect(await isServed(port)).toBe(true)
  const ended = once(owner, 'exit')
  end(owner)
  await ended
  await expect.poll(() => isServed(port)).toBe(false)
})
