import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase } from '@terrane/database/testing'
import { profilesPath } from '../src/connection.ts'
import { CHECKS } from '../src/doctor/checks.ts'
import type { Finding } from '../src/doctor/finding.ts'
import { databaseFindings, heldFinding } from '../src/doctor/database.ts'
import { judgeSizes } from '../src/doctor/size.ts'
import { diskFinding, memoryFinding, nodeFinding } from '../src/doctor/machine.ts'

let folder: string
const servers: Server[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-doctor-'))
})
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  await rm(folder, { recursive: true })
})

/** All problems of an environment, as `check: message → remedy`. */
async function faults(env: Record<string, string>, profile?: string): Promise<string[]> {
  return (await findings(env, profile)).filter(({ state }) => state === 'wrong').map(line)
}

async function findings(env: Record<string, string>, profile?: string): Promise<Finding[]> {
  const context = {
    env: { TERRANE_HOME: join(folder, 'home'), TERRANE_MODEL_DIR: join(folder, 'models'), ...env },
    profile,
  }
  const found: Finding[] = []
  for (const check of CHECKS) found.push(...(await check(context)))
  return found
}

function line({ check, message, remedy }: Finding): string {
  return `${check}: ${message} → ${remedy ?? ''}`
}

/** A project whose answers are those of a worker in a given state. */
async function project(answers: { ready?: number; checks?: object; capacity?: number; body?: object; date?: string }) {
  const server = createServer((request, response) => {
    const isReady = request.url?.endsWith('/health/ready')
    const status = (isReady ? answers.ready : answers.capacity) ?? 200
    const body = isReady ? { checks: answers.checks ?? {} } : (answers.body ?? { workers: 1, running: 0, queued: 0 })
    response.writeHead(status, { 'content-type': 'application/json', ...(answers.date && { date: answers.date }) })
    response.end(JSON.stringify(body))
  })
  return { TERRANE_URL: `http://127.0.0.1:${await listen(server)}`, TERRANE_SERVICE_ROLE_KEY: 'key' }
}

async function listen(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function put(path: string, text: string, mode = 0o600): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  await chmod(path, mode)
}

describe('doctor names, with a remedy,', () => {
  test('a port that another program has, and a port that is none', async () => {
    const port = String(await listen(createServer((_, response) => response.end('{}'))))
    const found = await faults({ TERRANE_CONSOLE_PORT: port, TERRANE_ROUTER_PORT: '80000' })
    expect(found).toContainEqual(expect.stringMatching(`port: ${port} \\(console\\) is taken → .*TERRANE_CONSOLE_PORT`))
    expect(found).toContainEqual(expect.stringMatching(/TERRANE_ROUTER_PORT is not a port: 80000 → /))
  })

  test('keys that others may read, damaged ones, and a secrets key that is none', async () => {
    const path = join(folder, 'home/keys.json')
    await put(path, '{}', 0o644)
    expect(await faults({})).toContainEqual(expect.stringMatching(/keys: other users can read .*chmod 600/))
    await put(path, '{"serviceRoleKey": ')
    expect(await faults({ TERRANE_SECRETS_KEY: 'abc' })).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^keys: .* is damaged → Restore/),
        expect.stringMatching(/^secrets-key: .*openssl rand/),
      ]),
    )
  })

  test('a database that does not answer, and an address that is none', async () => {
    const port = await listen(createServer())
    servers.pop()?.close()
    expect(await faults({ DATABASE_URL: `postgres://u:hunter2@127.0.0.1:${port}/x` })).toContainEqual(
      expect.stringMatching(/^database: it cannot be reached: (?!.*hunter2).* → Start it/),
    )
    expect(await faults({ DATABASE_URL: 'mysql://u@h/x' })).toContainEqual(expect.stringMatching(/postgres:\/\/user/))
  })

  test('an old server, a standby, extensions that are missing, and a clock that is wrong', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    const said = { version: 170_002, now: new Date(now), names: ['postgis', 'vector'], readonly: false }
    const found = (change: object) =>
      databaseFindings({ ...said, ...change }, now)
        .filter(({ state }) => state === 'wrong')
        .map(line)
    expect(found({})).toEqual([])
    expect(found({ version: 140_001 })).toEqual([expect.stringMatching(/PostgreSQL 14 is too old → Use/)])
    expect(found({ readonly: true })).toEqual([expect.stringMatching(/standby.* → Name the primary/)])
    expect(found({ names: ['postgis'] })).toEqual([expect.stringMatching(/vector is not installed.*pgvector/)])
    expect(found({ names: ['vector'] })).toEqual([expect.stringMatching(/postgis is not installed.*PostGIS/)])
    expect(found({ now: new Date(now + 31_000) })).toEqual([expect.stringMatching(/31 s apart → .*NTP/)])
    expect(found({ now: new Date(now + 29_000) })).toEqual([])
  })

  test('who has had the session of the embedded database for long', () => {
    expect(line(heldFinding('42 terrane worker')!)).toMatch(/^database: terrane worker has had .* for 42 s, .* → Wait/)
    expect([heldFinding('4 terrane worker'), heldFinding(undefined)]).toEqual([null, null])
  })

  test('a schema of a later version', async () => {
    await using later = await openTestDatabase()
    expect((await findings({ DATABASE_URL: later.url })).map(line)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^size: [\d.]+ MB, log [\d.]+ MB, last checkpoint \d+ \w+ ago/)]),
    )
    expect(await faults({ DATABASE_URL: later.url })).not.toContainEqual(expect.stringMatching(/^schema/))
    await later.database.query(`insert into terrane.migrations (id, sha256) values ('control/9999_of_the_future', '')`)
    expect(await faults({ DATABASE_URL: later.url })).toContainEqual(
      expect.stringMatching(/^schema: SCHEMA_TOO_NEW: .*control\/9999_of_the_future → Start the version/),
    )
  })

  test('a log that does not end, rows that are never frozen, and a table that is not vacuumed', () => {
    const sizes = { bytes: 5e8, log: 2e8, secondsSinceCheckpoint: 30, age: 1e6, table: 'public.t' }
    const rows = { live: 20_000, dead: 100_000, secondsSinceVacuum: 7300 }
    const found = (change: object) =>
      judgeSizes({ ...sizes, ...rows, ...change }).map((one) => `${one.state} ${line(one)}`)
    expect(found({})).toEqual([
      expect.stringMatching(
        /^fine size: 500 MB, log 200 MB, last checkpoint 30 s ago, oldest row 1000000 transactions old/,
      ),
      expect.stringMatching(
        /^fine vacuum: public\.t has the most dead rows, 100000 dead and 20000 live, vacuumed 2 h ago/,
      ),
    ])
    expect(found({ log: 3e9 })[0]).toMatch(/^wrong size: .*log 3000 MB.* → Vacuum it/)
    expect(found({ age: 1.5e9 })[0]).toMatch(/^wrong size/)
    expect(found({ dead: 200_000, secondsSinceVacuum: null })[1]).toMatch(
      /^wrong vacuum: .*not vacuumed yet → .*vacuum \(analyze\) public\.t/,
    )
    expect(found({ table: null })).toHaveLength(1)
  })

  test('an old Node, too little memory, and a full disk', () => {
    const states = [nodeFinding('v22.15.0'), nodeFinding('v24.0.0'), memoryFinding(2 ** 31), memoryFinding(2 ** 31 - 1)]
    expect(states.map(({ state }) => state)).toEqual(['wrong', 'fine', 'fine', 'wrong'])
    expect([diskFinding(2 ** 31, '/x'), diskFinding(2 ** 31 - 1, '/x')].map(({ state }) => state)).toEqual([
      'fine',
      'wrong',
    ])
    expect(diskFinding(0, '/x').remedy).toContain('TERRANE_HOME')
  })

  test('no stack, a profile that is not there, and profiles that others may read', async () => {
    expect(await faults({})).toContainEqual(expect.stringMatching(/^profile: There is no local stack.* → .*npm start/))
    const env = { XDG_CONFIG_HOME: folder }
    expect(await faults(env, 'prod')).toContainEqual(expect.stringMatching(/no profile 'prod'/))
    await put(profilesPath(env), '{"prod": {"url": "http://127.0.0.1:1", "key": "k"}}', 0o640)
    expect(await faults(env, 'prod')).toContainEqual(expect.stringMatching(/Other users can read.*chmod 600/))
    await put(profilesPath(env), '{"prod": {"url": "http://127.0.0.1:1", "key": "k"}}')
    expect(await faults(env, 'prod')).toContainEqual(
      expect.stringMatching(/nothing answers at http:\/\/127\.0\.0\.1:1 → /),
    )
  })

  test('a worker that is not ready, a key that it refuses, jobs that no worker takes, and a clock that is wrong', async () => {
    expect(await faults(await project({}))).toEqual([])
    expect(await faults(await project({ ready: 503, checks: { database: 'down' } }))).toEqual([
      expect.stringMatching(/not ready: database is down → /),
    ])
    expect(await faults(await project({ capacity: 401, body: { message: 'Invalid API key' } }))).toEqual([
      expect.stringMatching(/key: the worker refuses the key: Invalid API key → /),
    ])
    expect(await faults(await project({ body: { workers: 0, running: 0, queued: 3 } }))).toEqual([
      expect.stringMatching(/queue: 3 jobs wait .*TERRANE_WORKER_CONCURRENCY/),
    ])
    expect(await faults(await project({ date: new Date(Date.now() - 3_600_000).toUTCString() }))).toEqual([
      expect.stringMatching(/clock: .*3\d{3} s apart/),
    ])
  })

  test('a manifest of a model that is damaged', async () => {
    const here = await project({})
    await put(join(folder, 'models/broken.json'), '{')
    expect(await faults(here)).toEqual([expect.stringMatching(/models: .*broken\.json is not JSON → /)])
  })
})
