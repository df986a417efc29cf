import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Keys, Organizations } from '@terrane/control'
import { freePorts } from '@terrane/testing/ports'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileCache } from '@terrane/testing/compile-cache'

let servicesKey: string
const SECRET = 'hunter2-must-not-be-shown'
let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  const { id: organizationId } = await new Organizations(db.database).create('of the secrets test')
  servicesKey = (await new Keys(db.database, null).issue({ organizationId, role: 'services' })).key
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

test('no secret of a request or of the configuration reaches the log, whatever happens', async () => {
  const [port] = await freePorts(1)
  const child = fork(new URL('../src/main.ts', import.meta.url), {
    env: {
      ...compileCache,
      DATABASE_URL: db.url,
      PORT: String(port),
      LOG_LEVEL: 'trace',
      TERRANE_MODE: 'shared',
      TERRANE_SECRETS_KEY: 'cd'.repeat(32),
      TERRANE_ALLOW_PROJECT_TARGET: 'true',
      TERRANE_FETCH_ALLOW_HOSTS: '127.0.0.1',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let log = ''
  child.stdout?.on('data', (chunk) => (log += String(chunk)))
  child.stderr?.on('data', (chunk) => (log += String(chunk)))
  await once(child, 'message')

  const post = async (body: unknown, key = servicesKey) => {
    const response = await fetch(`http://127.0.0.1:${port}/jobs/createGeoEmbeddings`, {
      method: 'POST',
      headers: { apikey: key, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }
  const target = (databaseUrl: string) => ({
    projectRef: 'brought',
    databaseUrl,
    serviceRoleKey: SECRET,
    storageUrl: 'http://127.0.0.1:1/storage/v1',
  })
  const body = {
    geotiffPath: `https://127.0.0.1:1/a.tif?sig=${SECRET}`,
    tableName: 'x',
    modelName: 'builtin-texture-spectral-v2',
  }
  const answers = [
    // A password the server does not know, a server that is not there, a body that does not fit, an unknown key.
    await post({ ...body, projectTarget: target(`postgres://nobody:${SECRET}@127.0.0.1:1/none`) }),
    await post({ ...body, projectTarget: target(db.url.replace('postgres@', `postgres:${SECRET}@`)) }),
    await post({ ...body, projectTarget: { ...target(db.url), databaseUrl: `mysql://u:${SECRET}@h/d` } }),
    await post({ ...body, tableName: 1, projectTarget: target(db.url) }),
    await post(body, `wrong-${SECRET}`),
  ]
  expect(answers.map((answer) => answer.status)).toEqual([503, 202, 422, 422, 401])
  // The accepted job fails on its address, and says so in the log.
  await expect.poll(() => log).toMatch(/job (failed|interrupted)/)
  child.kill('SIGTERM')
  await once(child, 'exit')

  expect(log).not.toContain(SECRET)
  expect(log).not.toContain(servicesKey)
  for (const { text } of answers) expect(text).not.toContain(SECRET)
  const dump = await db.database.query<{ lines: string }>(
    `select (select json_agg(j) from terrane.jobs j)::text as jobs, (select json_agg(b) from pgboss.job b)::text as queue,
       (select json_agg(l) from terrane.job_lines l)::text as lines`,
  )
  expect(dump.rows[0]!.lines).toMatch(/submitted[^]*(failed|retry)/)
  expect(JSON.stringify(dump.rows)).not.toContain(SECRET)
})
