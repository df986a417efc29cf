// Slow: waits for jobs that read from hostile servers.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { testLane } from '@terrane/database/testing'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { shareOfRun } from '@terrane/testing/property'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  ANSWERED,
  MODEL,
  STATE_ATTACKER,
  STATE_ATTEMPTS,
  ledJobs,
  spellingsOf,
  type Answered,
} from '../support/attacks.ts'
import { openHostileServer } from '../support/hostile-server.ts'
import { openHouse, settingsOf, type House } from '../support/house.ts'
import { NEWEST, RASTER, SERIES } from '../support/newest-attacks.ts'
import { SETUP, openEndlessFiles, townImport } from '../support/worst-requests.ts'

const MIB = 1024 * 1024
const MOST_BYTES = 300 * MIB
const JSON_TYPE = { 'content-type': 'application/json' }
/** Paths and messages that would reveal details of the machine or the code. */
const OWN = /node_modules|\/tmp\/|\/home\/|\/packages\/|\/apps\/|\.ts:|is not a function|Cannot read prop/

const server = await openHostileServer()
const files = await openEndlessFiles()
afterAll(() => server[Symbol.asyncDispose]())
afterAll(() => files[Symbol.asyncDispose]())

/** A third of a table, chosen by the seed, or all of it. */
function share<T>(title: string, table: Readonly<Record<string, T>>): [name: string, one: T][] {
  const all = Object.entries(table)
  return shareOfRun(title, all, Math.ceil(all.length / 3), ([name]) => name)
}

interface JobEnd {
  readonly status: string
  readonly terminal: boolean
  readonly error: { readonly code: string; readonly message: string } | null
}

describe(`attacks in new spellings (${testLane()})`, () => {
  const opened = new AsyncDisposableStack()
  let house: House
  beforeAll(async () => {
    const hosts = [server.url, files.url].map((url) => new URL(url).host).join(',')
    house = await openHouse(opened, { ...settingsOf(100_000), TERRANE_FETCH_ALLOW_HOSTS: hosts })
    await house.signIn()
    await send({ app: 'origin', path: '/storage/v1/bucket', as: 'owner', method: 'POST', body: { id: 'open', name: 'open', public: true } }) // prettier-ignore
    await storeRaster()
    await house.db.database.query(SETUP)
    await house.db.database.query(
      `create table public.things (id int primary key, name text, geom geometry(Point, 4326));
       insert into public.things select i, 'thing ' || i, st_setsrid(st_point(11.6, 48.1), 4326) from generate_series(1, 5) i;
       grant select on public.things to anon; grant all on public.things to service_role; notify pgrst, 'reload schema'`,
    )
    const folder = join(house.folder, 'functions', 'attacker')
    await mkdir(folder)
    await writeFile(join(folder, 'function.json'), '{"auth":"none"}')
    await writeFile(join(folder, 'index.ts'), STATE_ATTACKER)
    const untilServed = async () => {
      const { status } = await send({
        app: 'functions',
        path: '/functions/v1/attacker?kind=remove',
        as: 'owner',
        method: 'POST',
      })
      if (status !== 200) throw new Error(`the function answers ${status}`)
    }
    await vi.waitFor(untilServed, { timeout: 60_000, interval: 500 })
    const untilDone = async (self: string) => {
      const { status } = await jobAt(self)
      if (status !== 'success') throw new Error(`${self} is ${status}`)
    }
    const storagePath = { bucket: 'open', path: RASTER }
    const sources = ['2024-01-01', '2024-07-01'].map((day) => ({
      storagePath,
      name: day,
      datetime: `${day}T00:00:00Z`,
    }))
    const series = { tableName: SERIES, modelName: MODEL, tileSize: 64, isPublic: true, sources }
    const jobs = [await start('osmImportArea', townImport(files)), await start('createGeoEmbeddings', series)]
    for (const self of jobs) await vi.waitFor(() => untilDone(self), { timeout: 200_000, interval: 500 })
  }, 300_000)
  afterAll(() => opened.disposeAsync())

  async function storeRaster(): Promise<void> {
    const image = textureImage({ width: 300, height: 200, bands: 3, seed: 1, type: 'uint8', noise: 5 })
    const georeference = { affine: [500_000, 10, 0, 5_000_000, 0, -10], epsg: 32_632 } as const
    const body = Buffer.from(await writeGeoTiff(image, { type: 'uint8', color: 'rgb', georeference }))
    const headers = { ...house.credentials('origin', 'owner'), 'content-type': 'image/tiff' }
    const url = `${house.app('origin').url}/storage/v1/object/open/${RASTER}`
    const { status } = await fetch(url, { method: 'POST', headers, body })
    if (status !== 200) throw new Error(`the raster is refused with ${status}`)
  }

  async function send({ app, path, as, method = 'GET', body, headers = {} }: Omit<Answered, 'right' | 'holds'>) {
    const all = { ...(as && house.credentials(app, as)), ...(body !== undefined && JSON_TYPE), ...headers }
    const init = { method, headers: all, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await fetch(`${house.app(app).url}${path}`, init)
    let bytes = 0
    let text = ''
    try {
      for await (const chunk of response.body ?? []) {
        bytes += (chunk as Uint8Array).length
        if (text.length < 2000) text += Buffer.from(chunk as Uint8Array).toString('latin1', 0, 2000)
      }
    } catch {
      text += '(ends within)'
    }
    return { status: response.status, bytes, text }
  }

  async function start(task: string, body: object): Promise<string> {
    const init = { method: 'POST', headers: { ...house.credentials('worker', 'owner'), ...JSON_TYPE }, body: JSON.stringify(body) } // prettier-ignore
    const response = await fetch(`${house.app('worker').url}/jobs/${task}`, init)
    const { links, ...said } = (await response.json()) as { links?: { self: string }; code?: string }
    return links ? links.self : `refused ${response.status} ${said.code}`
  }
  const jobAt = async (self: string) =>
    (await (await fetch(`${house.app('worker').url}${self}`, { headers: house.credentials('worker', 'owner') })).json()) as JobEnd // prettier-ignore

  const memory = (app: string) => house.metric(app, 'process_resident_memory_bytes')
  /** Largest increase of an app's memory above its idle memory during the work. */
  async function grown(app: string, work: () => Promise<void>): Promise<number> {
    await house.app(app).collect()
    const before = await memory(app)
    let peak = before
    const done = new AbortController()
    const watching = (async () => {
      while (!done.signal.aborted) {
        peak = Math.max(peak, await memory(app))
        await sleep(50)
      }
    })()
    await work().finally(() => done.abort())
    await watching
    return peak - before
  }
  const allAlive = () => expect(house.apps.filter(({ isAlive }) => !isAlive).map(({ name }) => name)).toEqual([])

  test.each(share('attacks that are answered', { ...ANSWERED, ...NEWEST }))(
    '%s',
    { timeout: 120_000 },
    async (name, attack) => {
      let answer = { status: 0, bytes: 0, text: '' }
      const bytes = await grown(attack.app, async () => {
        answer = await send(attack)
      })
      const line = `${name}: ${answer.status}, ${answer.bytes} B, + ${Math.round(bytes / MIB)} MiB ${answer.text.slice(0, 160)}`
      process.stdout.write(`${line}\n`)
      expect(attack.right, line).toContain(answer.status)
      if (attack.holds) expect(answer.text).toMatch(attack.holds)
      expect(answer.text).not.toMatch(OWN)
      expect(bytes, line).toBeLessThan(MOST_BYTES)
      allAlive()
    },
  )

  test.each(share('jobs that are led astray', ledJobs(server.url)))(
    '%s',
    { timeout: 400_000 },
    async (name, [task, body, codes]) => {
      let end = ''
      const bytes = await grown('worker', async () => {
        const self = await start(task, body)
        if (!self.startsWith('/')) {
          end = self
          return
        }
        await expect.poll(async () => (await jobAt(self)).terminal, { timeout: 350_000, interval: 250 }).toBe(true)
        const { status, error } = await jobAt(self)
        end = `${status} ${error?.code} ${error?.message}`
      })
      process.stdout.write(`${name}: ${end}, + ${Math.round(bytes / MIB)} MiB\n`)
      const isRight = codes.some(
        (code) => end.startsWith(`failed ${code} `) || /^refused 4\d\d (\w+)$/.exec(end)?.[1] === code,
      )
      expect(isRight, end).toBe(true)
      expect(end).not.toMatch(OWN)
      expect(bytes).toBeLessThan(MOST_BYTES)
      allAlive()
    },
  )

  test.each(Object.entries(STATE_ATTEMPTS))('state of functions: %s', { timeout: 120_000 }, async (kind, right) => {
    let answer = { status: 0, text: '' }
    const bytes = await grown('functions', async () => {
      answer = await send({
        app: 'functions',
        path: `/functions/v1/attacker?kind=${kind}`,
        as: 'owner',
        method: 'POST',
      })
    })
    process.stdout.write(
      `state ${kind}: ${answer.status} ${answer.text.slice(0, 160)}, + ${Math.round(bytes / MIB)} MiB\n`,
    )
    // A function that uses too much is ended by the host (546), or by V8 before the host notices (502).
    expect([200, 502, 546]).toContain(answer.status)
    expect(answer.text).toMatch(right)
    expect(answer.text).not.toMatch(OWN)
    expect(bytes).toBeLessThan(MOST_BYTES)
    allAlive()
  })

  test('a revoked key opens nothing in any spelling', { timeout: 120_000 }, async () => {
    const { registered, keys } = house
    const { projectId, organizationId } = await registered.find(keys.serviceRoleKey)
    const { key, record } = await registered.issue({ organizationId, projectId: projectId!, role: 'service_role' })
    const doors = [
      ['origin', '/rest/v1/things?select=id'],
      ['origin', '/storage/v1/bucket'],
      ['origin', '/ogc/v1/collections/public.things/items'],
      ['origin', '/vector/v1/catalog'],
      ['origin', '/export/v1/public.things?format=CSV'],
      ['worker', '/capacity'],
      ['worker', '/table-hooks'],
    ] as const
    const opens = async (app: string, path: string, headers: Readonly<Record<string, string>>) =>
      (await send({ app, path, as: null, headers })).status
    await expect.poll(() => opens('origin', '/storage/v1/bucket', { apikey: key })).toBe(200)
    await registered.revoke(record.id)
    await expect.poll(() => opens('origin', '/storage/v1/bucket', { apikey: key })).toBe(401)
    await expect.poll(() => opens('worker', '/capacity', { apikey: key, authorization: `Bearer ${key}` })).toBe(401)
    const opened_: string[] = []
    for (const [spelling, headers] of Object.entries(spellingsOf(key)))
      for (const [app, path] of doors) {
        const status = await opens(app, path, headers)
        if (status < 400) opened_.push(`${app} ${path} ${spelling}: ${status}`)
      }
    for (const text of [key, encodeURIComponent(key), key.replaceAll('.', '%2E'), `%65${key.slice(1)}`])
      for (const [app, path] of doors) {
        const status = await opens(app, `${path}${path.includes('?') ? '&' : '?'}apikey=${text}`, {})
        if (status < 400) opened_.push(`${app} ${path} in the address: ${status}`)
      }
    expect(opened_).toEqual([])
  })

  test('no hostile server was led to any other address, and nothing that was attacked has changed', async () => {
    expect(server.asked.size).toBeGreaterThan(0)
    const { rows } = await house.db.database.query('select count(*)::int as n from public.things')
    expect(rows).toEqual([{ n: 5 }])
    const locks = await house.db.database.query(
      `select objid from pg_locks where locktype = 'advisory' and classid = 0 and objid = 1 and objsubid = 1
         and database = (select oid from pg_database where datname = current_database())`,
    )
    expect(locks.rows).toEqual([])
  })
})
