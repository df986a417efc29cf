import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Database } from '@terrane/database'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'

const CANCEL_REQUEST = 80877102

/** A proxy to the server that can hold back statements while cancel requests pass. */
interface Slow extends AsyncDisposable {
  readonly port: number
  hold(): void
  release(): void
  /** Number of cancel requests that the server has closed. */
  readonly taken: number
}

let own: TestDatabase
let slow: Slow
let database: Database
beforeAll(async () => {
  own = await openTestDatabase()
  await own.database.query('create table public.held (n int)')
  const { hostname, port } = new URL(own.url)
  slow = await openSlow(hostname, Number(port))
  const url = new URL(own.url)
  url.host = `127.0.0.1:${slow.port}`
  database = await openDatabase({ url: url.href, max: 1, applicationName: 'cancel test' })
})
afterAll(async () => {
  await database.close()
  await slow[Symbol.asyncDispose]()
  await own[Symbol.asyncDispose]()
})

test('a cancellation that overtakes its statement ends it all the same', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const running = database.withSignal(stop.signal).session(async (session) => {
    await session.query('select 1')
    slow.hold()
    const before = slow.taken
    const endless = session.query('select count(*) from generate_series(1, 40000000000)')
    stop.abort(reason)
    await expect.poll(() => slow.taken).toBeGreaterThan(before)
    slow.release()
    return endless
  })
  await expect(running).rejects.toBe(reason)
  // The pool has only this connection, so a late cancel request would hit the next statement on it.
  expect((await database.query('select pg_sleep(0.3), 1 as n')).rows).toMatchObject([{ n: 1 }])
})

test('a transaction that is aborted between two statements holds nothing when its promise settles', async () => {
  const stop = new AbortController()
  const working = database.withSignal(stop.signal).transaction(async (session) => {
    await session.query('insert into public.held values (1)')
    stop.abort(new Error('enough'))
    await session.query('select 1')
  })
  await expect(working).rejects.toThrow('enough')
  await own.database.query(`set lock_timeout = '1s'; alter table public.held add m int; reset lock_timeout`)
  expect((await database.query('select * from public.held')).rows).toEqual([])
})

test('a signal that aborts while a connection is waited for lets nothing begin', async () => {
  const stop = new AbortController()
  const first = database.session(() => new Promise((resolve) => setTimeout(resolve, 100)))
  let began = false
  const second = database.withSignal(stop.signal).session(async () => {
    began = true
  })
  stop.abort(new Error('enough'))
  await first
  await expect(second).rejects.toThrow('enough')
  expect(began).toBe(false)
})

async function openSlow(host: string, port: number): Promise<Slow> {
  let isHolding = false
  let taken = 0
  const held: (() => void)[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, host)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    let isCancel = false
    client.on('data', (chunk: Buffer) => {
      isCancel ||= chunk.length === 16 && chunk.readInt32BE(4) === CANCEL_REQUEST
      if (isHolding && !isCancel) held.push(() => upstream.write(chunk))
      else upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => client.write(chunk))
    client.on('close', () => upstream.end())
    upstream.on('close', () => {
      if (isCancel) taken++
      client.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    hold: () => {
      isHolding = true
    },
    release: () => {
      isHolding = false
      for (const send of held.splice(0)) send()
    },
    get taken() {
      return taken
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
