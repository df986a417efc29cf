import type { Socket } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { LentSession } from '@terrane/database'
import { expect, test } from 'vitest'
import { splice } from './splice.ts'

/** A client and a server with a splice between them, and the bytes that each has received. */
function make(depth = () => '') {
  const [client, door] = duplexPair()
  const [back, server] = duplexPair()
  const asked: (() => void)[] = []
  const session = {
    lost: false,
    lend: () => back,
    takeBack: () => undefined,
    cancel: () => new Promise<void>((resolve) => asked.push(resolve)),
  }
  const spliced = splice(door as unknown as Socket, session as unknown as LentSession, { isWelcome: () => true, depth })
  return { client, door, server, asked, spliced, statements: textOf(server), answers: textOf(client) }
}

function textOf(stream: Duplex): () => string {
  let text = ''
  stream.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  return () => text
}

function message(type: string, body: string): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, Buffer.from(body)])
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn()
}

test('a cancellation while nothing runs does not reach the server', async () => {
  const { spliced, asked, client, server } = make()
  await spliced.cancel()
  client.write(message('Q', 'one'))
  await settle()
  server.write(message('Z', 'I'))
  await settle()
  await spliced.cancel()
  expect(asked).toEqual([])
})

test('the statement after one that was cancelled waits until the server has heard of the cancellation', async () => {
  const { spliced, asked, client, server, statements, answers } = make()
  client.write(message('Q', 'one'))
  await settle()
  const cancelled = spliced.cancel()
  server.write(message('Z', 'I'))
  client.write(message('Q', 'two'))
  await settle()
  expect(answers()).toContain('Z')
  expect(statements()).toContain('one')
  expect(statements()).not.toContain('two')
  asked[0]!()
  await cancelled
  await settle()
  expect(statements()).toContain('two')
  expect(asked).toHaveLength(1)
})

test('a session is not given back while a cancellation of its client is on its way', async () => {
  const { spliced, asked, client, door, server } = make()
  client.write(message('Q', 'one'))
  await settle()
  void spliced.cancel()
  server.write(message('Z', 'I'))
  await settle()
  door.destroy()
  let left: string | null = null
  void spliced.left.then((how) => (left = how))
  await settle()
  expect(left).toBeNull()
  asked[0]!()
  expect(await spliced.left).toBe('ready')
})

test('a changed depth is set before the next transaction, and the client does not see the answer', async () => {
  let depth = 'one'
  const { client, server, statements, answers } = make(() => depth)
  client.write(message('Q', 'first'))
  await settle()
  depth = 'two'
  client.write(message('Q', 'within'))
  await settle()
  expect(statements()).not.toContain('terrane.depth')
  server.write(Buffer.concat([message('Z', 'T'), message('Z', 'I')]))
  await settle()
  client.write(message('Q', 'second'))
  client.write(message('Q', 'third'))
  await settle()
  expect(statements().split('terrane.depth')).toHaveLength(2)
  expect(statements()).toMatch(/set terrane\.depth = 'two'.*second.*third/s)
  const before = answers().length
  const hidden = Buffer.concat([message('A', 'news'), message('C', 'SET'), message('Z', 'I')])
  for (const byte of hidden) server.write(Buffer.of(byte))
  server.write(Buffer.concat([message('C', 'SELECT'), message('Z', 'I')]))
  await settle()
  expect(answers().slice(before)).toBe(
    Buffer.concat([message('A', 'news'), message('C', 'SELECT'), message('Z', 'I')]).toString('latin1'),
  )
})
