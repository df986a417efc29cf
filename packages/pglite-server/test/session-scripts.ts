import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { seededRandom } from '@terrane/core'
import type { Client } from 'pg'
import copyStreams from 'pg-copy-streams'
import { connect, type TestClient } from './clients.ts'

/** Queries that a client sends without a pause. A transaction is not split, because others would wait for its end. */
type Step = readonly Query[]

interface Query {
  readonly text: string
  readonly name?: string
  readonly values?: readonly unknown[]
  /** Data of a COPY from the client. */
  readonly data?: string
}

const STATE = `select current_user::text as who, session_user::text as session, current_setting('search_path') as path,
  current_setting('statement_timeout') as timeout, current_setting('timezone') as zone,
  nullif(current_setting('my.claim', true), '') as claim`

/**
 * Sessions of clients that set, reset and prepare at random. Roles reader and writer and schema other must exist. SET
 * SESSION AUTHORIZATION is left out, because a rollback on the embedded server does not restore the former user.
 */
export function openScripts(count: number, seed: number): Step[][] {
  const random = seededRandom(seed)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const change = () =>
    pick([
      `set role ${pick(['reader', 'writer', 'none'])}`,
      'reset role',
      `set search_path to ${pick(['other', 'public', 'other, public'])}`,
      `SET statement_timeout = '${pick([1, 2, 3])}min'`,
      `set time zone '${pick(['UTC', 'Asia/Tokyo', 'Europe/Rome'])}'`,
      `set my.claim = '${pick(['a', 'b'])}'`,
      `do $$ begin perform set_config('my.claim', '${pick(['c', 'd'])}', false); end $$`,
      'reset all',
      'discard all',
    ])
  const step = (): Step => {
    const n = Math.floor(random() * 1000)
    return pick<() => Step>([
      () => [{ text: STATE }],
      () => [{ text: change() }],
      () => [
        { text: 'begin' },
        { text: change().replace('discard all', 'reset all') },
        { text: pick(['commit', 'rollback']) },
      ],
      () => [{ text: 'begin' }, { text: `set local search_path to pg_catalog` }, { text: STATE }, { text: 'commit' }],
      () => [{ text: `select set_config($1, $2, false)`, values: ['my.claim', String(n)] }],
      () => [{ name: pick(['p', 'q']), text: '', values: [n] }],
      () => [{ text: 'select 1 / 0' }],
      // An error in a block that handles another error.
      () => [{ text: `do $$ begin perform 1 / 0; exception when division_by_zero then perform 'x'::int; end $$` }],
      () => [
        { text: 'create temporary table mine (n int)' },
        { text: 'copy mine from stdin', data: `${n}\n${n + 1}\n` },
        { text: 'select * from mine order by n' },
        { text: 'drop table mine' },
      ],
      () => [{ text: 'begin' }, { text: 'copy nowhere from stdin', data: '1\n' }, { text: 'rollback' }],
    ])()
  }
  return Array.from({ length: count }, () => {
    const texts = new Map(['p', 'q'].map((name) => [name, `select $1::int + ${Math.floor(random() * 100)} as n`]))
    return Array.from({ length: 12 }, () =>
      step().map((query) => (query.name === undefined ? query : { ...query, text: texts.get(query.name) as string })),
    )
  })
}

/** The answers of each session, one session after the other. */
export async function runAlone(url: string, scripts: readonly Step[][]): Promise<unknown[]> {
  const all: unknown[] = []
  for (const script of scripts) {
    const answers: unknown[] = []
    await using client = await connect(url)
    for (const step of script) answers.push(await run(client, step))
    all.push(answers)
  }
  return all
}

/** The answers of each session; `width` sessions run concurrently, interleaved at random. */
export async function runTogether(url: string, scripts: readonly Step[][], width: number, seed: number) {
  const random = seededRandom(seed)
  const all: unknown[][] = scripts.map(() => [])
  const waiting = scripts.map((script, i) => ({ script, i, at: 0 }))
  const open: { session: (typeof waiting)[number]; client: TestClient }[] = []
  while (waiting.length > 0 || open.length > 0) {
    while (open.length < width && waiting.length > 0) {
      open.push({ session: waiting.shift() as (typeof waiting)[number], client: await connect(url) })
    }
    const which = Math.floor(random() * open.length)
    const { session, client } = open[which] as (typeof open)[number]
    all[session.i]?.push(await run(client, session.script[session.at++] as Step))
    if (session.at < session.script.length) continue
    await client[Symbol.asyncDispose]()
    open.splice(which, 1)
  }
  return all
}

async function run(client: Client, step: Step): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const query of step) answers.push(await ask(client, query).catch((error: { code?: string }) => error.code))
  return answers
}

async function ask(client: Client, { text, name, values = [], data }: Query): Promise<unknown> {
  if (data === undefined) {
    return (await client.query({ text, ...(name !== undefined && { name }), values: [...values] })).rows
  }
  await pipeline(Readable.from([data]), client.query(copyStreams.from(text)))
  return 'copied'
}
