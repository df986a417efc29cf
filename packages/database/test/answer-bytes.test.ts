import { openDatabase } from '@terrane/database'
import { scan } from '@terrane/database/scan'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { message, ONE_COLUMN, READY, row, startFakeServer } from './fake-server.ts'

const MIB = 1024 * 1024

describe('a server', () => {
  /** Error of a statement at a server with these answers, and the number of bytes that were taken from the server. */
  async function failure(answer: (socket: Socket) => void, answerBytes?: number) {
    await using server = await startFakeServer(answer)
    const errors: unknown[] = []
    await using database = await openDatabase({
      url: server.url,
      onError: (error) => errors.push(error),
      ...(answerBytes !== undefined && { answerBytes }),
    })
    const error: unknown = await database.query('select 1').then(
      () => null,
      (thrown: unknown) => thrown,
    )
    // The pool continues with another connection.
    expect(await database.query('select version() as text').then(({ rowCount }) => rowCount)).toBe(1)
    return { error, sent: server.sent() }
  }
  const endless = (bytes: Buffer) => (socket: Socket) => {
    const more = () => {
      while (!socket.destroyed) if (!socket.write(bytes)) return void socket.once('drain', more)
    }
    more()
  }

  test('that announces a text of 900 MiB is left before the text comes', async () => {
    const text = endless(Buffer.alloc(65_536, 'x'))
    const { error, sent } = await failure((socket) => {
      socket.write(Buffer.concat([ONE_COLUMN, message('D', '', 900 * MIB)]))
      text(socket)
    })
    expect(error).toMatchObject({
      code: 'ANSWER_TOO_LARGE',
      kind: 'too_large',
      message: expect.stringContaining(String(256 * MIB)) as string,
      hint: expect.stringContaining('fewer rows') as string,
    })
    expect(sent).toBeLessThan(64 * MIB)
  })

  test('that sends rows without end is left at the limit', async () => {
    const rows = endless(Buffer.concat(Array.from({ length: 100 }, () => row('x'.repeat(1000)))))
    const { error, sent } = await failure((socket) => {
      socket.write(ONE_COLUMN)
      rows(socket)
    }, MIB)
    expect(error).toMatchObject({ code: 'ANSWER_TOO_LARGE', message: expect.stringContaining(String(MIB)) as string })
    expect(sent).toBeLessThan(64 * MIB)
  })

  test.each([
    ['a row with fewer bytes than its values announce', Buffer.concat([ONE_COLUMN, message('D', '\0\x01\0')])],
    ['an error without an end', message('E', 'SERROR\0MNo end\0')],
    ['a length that no message has', message('C', '', 2)],
  ])('that sends %s ends its connection alone', async (_name, bytes) => {
    const { error } = await failure((socket) => socket.write(bytes))
    expect(error).toMatchObject({ code: 'DATABASE_ANSWER_UNREADABLE', kind: 'upstream' })
  })

  test('may cut its messages anywhere and send more than the limit in several answers', async () => {
    const answer = Buffer.concat([ONE_COLUMN, row('x'.repeat(600)), message('C', 'SELECT 1\0'), READY])
    await using server = await startFakeServer((socket) => {
      for (const byte of answer) socket.write(Buffer.from([byte]))
    })
    await using database = await openDatabase({ url: server.url, max: 1, answerBytes: 1000 })
    for (let i = 0; i < 3; i++) expect((await database.query('select 1')).rows).toEqual([{ text: 'x'.repeat(600) }])
  })
})

describe('an answer of the database', () => {
  let own: TestDatabase
  beforeAll(async () => {
    own = await openTestDatabase()
  })
  afterAll(() => own[Symbol.asyncDispose]())
  const ALIASES = Array.from({ length: 560 }, (_, i) => `name as a${i}`).join(', ')
  const LARGE = `select ${ALIASES} from (select repeat('x', 10000) as name) as large`

  test('with one value under 560 names is refused above the limit of its caller, on every way', async () => {
    const limited = own.database.withAnswerBytes(4 * MIB)
    const tooLarge = { code: 'ANSWER_TOO_LARGE', message: expect.stringContaining(String(4 * MIB)) as string }
    await expect(limited.query(LARGE)).rejects.toMatchObject(tooLarge)
    await expect(limited.session((session) => session.query(LARGE))).rejects.toMatchObject(tooLarge)
    await expect(limited.transaction((session) => session.query(LARGE))).rejects.toMatchObject(tooLarge)
    await expect(limited.statement(LARGE, 'begin')).rejects.toMatchObject(tooLarge)
    const { signal } = new AbortController()
    await expect(limited.withSignal(signal).query(LARGE)).rejects.toMatchObject(tooLarge)
    expect((await limited.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('is bounded for the caller alone', async () => {
    await using single = await openDatabase({ url: own.url, max: 1 })
    expect((await single.withAnswerBytes(4 * MIB).query('select 1 as one')).rows).toEqual([{ one: 1 }])
    expect(Object.keys((await single.query<Record<string, string>>(LARGE)).rows[0] ?? {})).toHaveLength(560)
  })

  test('never exceeds the limit of the pool', async () => {
    await using single = await openDatabase({ url: own.url, max: 1, answerBytes: 4 * MIB })
    const error = { code: 'ANSWER_TOO_LARGE' }
    await expect(single.withAnswerBytes(400 * MIB).query(LARGE)).rejects.toMatchObject(error)
    await expect(single.query(LARGE)).rejects.toMatchObject(error)
  })

  test('that is scanned is bounded row by row', async () => {
    const count = async (rowBytes: number) => {
      let rows = 0
      const columns = [{ sql: `repeat('x', 100000)`, type: 'text' }] as const
      for await (const batch of scan(own.database, columns, 'generate_series(1, 50)', { rowBytes })) rows += batch.rows
      return rows
    }
    expect(await count(110_000)).toBe(50)
    await expect(count(90_000)).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE' })
    expect((await own.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })
})
