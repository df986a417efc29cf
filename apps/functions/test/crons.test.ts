// Slow: hosts with databases are started, and crons are followed from saved files.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { ANON_KEY, SERVICE_KEY, startApp, type TestApp } from './support/app.ts'
import { startHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const TICK = { name: 'clean', cron: '*/5 * * * *', scheduledTime: Date.UTC(2026, 10, 26) }
const header = (tick: object) => encodeURIComponent(JSON.stringify(tick))

const DENO_CRON = `
  let ran = 0
  Deno.cron('clean', '*/5  * * * *', () => { ran++ })
  Deno.cron('weekly report', { dayOfWeek: { exact: [1, 5] }, hour: { every: 6 }, minute: 0 }, { backoffSchedule: [1] }, async () => {
    throw new Error('broken report') })
  Deno.serve(() => Response.json(ran))`

for (const [runtime, profile] of [
  ['deno', 'standard'],
  ['node', 'standard'],
] as const) {
  const { probed, title } = await tryRuntime(runtime, profile)
  describe.skipIf(probed === null)(`calls at times on ${title}`, () => {
    const call = async (source: string, ticks: object[], key = 'service') => {
      await using host = await startHost(probed!)
      await host.deploy('fn', source, { policy: { auth: 'none', methods: ['GET', 'POST'] } })
      const answers: string[] = []
      for (const tick of ticks) {
        const headers = { apikey: key, 'x-terrane-cron': header(tick) }
        const response = await fetch(host.url('fn'), { method: 'POST', headers })
        answers.push(`${response.status} ${response.status === 200 ? await response.text() : ''}`.trim())
      }
      return answers
    }

    test('run the handler of Deno.cron, and only for the platform', async () => {
      const report = { ...TICK, name: 'weekly report' }
      expect(await call(DENO_CRON, [TICK, TICK, report, { ...TICK, name: '' }])).toEqual(['204', '204', '500', '200 2'])
      expect(await call(DENO_CRON, [TICK], 'anon')).toEqual(['200 0'])
    })

    test('run scheduled of Workers with event, environment and context, without a fetch beside it', async () => {
      const source = `let seen = null
        export default {
          async scheduled(event, env, ctx) { ctx.waitUntil(Promise.resolve()); seen = [event.cron, event.scheduledTime, typeof env] },
          FETCH
        }`
      const both = source.replace('FETCH', 'fetch: (request) => Response.json(seen)')
      await using host = await startHost(probed!)
      await host.deploy('both', both, { policy: { auth: 'none', methods: ['GET', 'POST'] } })
      const headers = { apikey: 'service', 'x-terrane-cron': header(TICK) }
      expect((await fetch(host.url('both'), { method: 'POST', headers })).status).toBe(204)
      expect(await (await fetch(host.url('both'))).json()).toEqual([TICK.cron, TICK.scheduledTime, 'object'])
      expect(await call(source.replace('FETCH', ''), [TICK])).toEqual(['204'])
    })

    test('are requests like any for other functions, with the times in the body', async () => {
      const source = `export default async (request) => Response.json(request.headers.get('x-terrane-cron'))`
      expect(await call(source, [TICK])).toEqual(['200 null'])
    })
  })
}

describe(`crons of functions on ${testLane()}`, { timeout: 120_000 }, () => {
  let database: TestDatabase
  let app: TestApp
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'terrane-crons-'))
    await mkdir(join(folder, 'in-folder'))
    await writeFile(join(folder, 'in-folder/index.ts'), DENO_CRON)
    await writeFile(join(folder, 'in-folder/function.json'), '{"schedule": ["@daily"], "time_zone": "Europe/Zurich"}')
    database = await openTestDatabase()
    app = await startApp({ DATABASE_URL: database.url, TERRANE_FUNCTIONS_DIR: folder })
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const ALL = ['clean: */5 * * * *', 'weekly report: 0 */6 * * 1,5']
  const rows = async (text: string) => (await database.database.query<{ policy: object }>(text)).rows

  test('are told to the platform from a folder', async () => {
    const served = () => rows('select policy from terrane.served_functions')
    const policy = { schedule: ['@daily', ...ALL], time_zone: 'Europe/Zurich' }
    await expect.poll(served, { timeout: 30_000 }).toEqual([{ policy: expect.objectContaining(policy) as object }])
    await using _ = await startApp({ DATABASE_URL: database.url })
    expect(await served()).toEqual([])
    await rm(join(folder, 'in-folder'), { recursive: true })
    await expect.poll(served, { timeout: 30_000 }).toEqual([])
  })

  test('are part of a deployed version; a wrong one is refused', async () => {
    const first = await app.deploy('timed', DENO_CRON, {})
    expect(first).toMatchObject({ status: 201 })
    expect(await rows(`select policy->'schedule' as policy from terrane.function_versions`)).toEqual([{ policy: ALL }])
    expect(await app.deploy('timed', DENO_CRON, {})).toMatchObject({ body: { unchanged: true } })
    expect(await app.deploy('timed', DENO_CRON, { schedule: ['x: 1 2 3 4 5'] })).toMatchObject({ status: 201 })
    const refused = [
      [`Deno.cron('a', 'every day', () => {})`, 'FUNCTION_POLICY_INVALID'],
      [`Deno.cron('a/b', '* * * * *', () => {})`, 'FUNCTION_BOOT_FAILED'],
      [`Deno.cron('a', '* * * * *')`, 'FUNCTION_BOOT_FAILED'],
    ] as const
    for (const [source, code] of refused) expect((await app.deploy('wrong', source, {})).body).toMatchObject({ code })
    const wrong = [['* * *'], ['H * * * *'], ['a: 0 0 1,H * *'], ['0 0 30 2 *'], ['61 * * * *']]
    for (const policy of [...wrong.map((schedule) => ({ schedule })), { time_zone: 'Mars/Olympus' }])
      expect([policy, (await app.deploy('wrong', DENO_CRON, policy)).body]).toMatchObject([
        policy,
        { code: 'FUNCTION_POLICY_INVALID' },
      ])
    expect(await app.deploy('thursdays', DENO_CRON, { schedule: ['0 0 * * THU'] })).toMatchObject({ status: 201 })
  })

  test('are called by the platform alone', async () => {
    await app.deploy('guarded', DENO_CRON, { auth: 'anon' })
    const call = async (key: string) => {
      const headers = { apikey: key, 'x-terrane-cron': header(TICK) }
      return (await fetch(app.url('guarded'), { method: 'POST', headers })).status
    }
    expect([await call(SERVICE_KEY), await call(ANON_KEY)]).toEqual([204, 200])
  })
})
