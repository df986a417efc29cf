import { Keys, Organizations, Projects } from '@terrane/control'
import { migrate } from '@terrane/database'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { createSealer, parseSecretsKey } from '@terrane/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { HOSTILE_DEPLOYS, deployHostile, type Deployers, type Outcome } from '../support/hostile-deploys.ts'
import { getByHost } from '../support/http.ts'
import { tryRuntime } from '../support/runtimes.ts'

const SECRETS_KEY = '07'.repeat(32)
const DOMAIN = 'functions.example'
const { probed, title } = await tryRuntime('deno', 'hardened')

describe.skipIf(!probed)(`hostile deploys of one organization beside another: ${title}`, () => {
  let database: TestDatabase
  let app: TestApp
  let deployers: Deployers
  const outcomes: (Outcome & { readonly name: string })[] = []

  beforeAll(async () => {
    database = await openTestDatabase()
    await migrate(database.database, ['control'])
    const hostile = await addProject('hostile')
    const honest = await addProject('honest')
    app = await startApp({
      DATABASE_URL: database.url,
      TERRANE_MODE: 'shared',
      TERRANE_FUNCTIONS_PROFILE: 'hardened',
      TERRANE_FUNCTIONS_DOMAIN: DOMAIN,
      TERRANE_SECRETS_KEY: SECRETS_KEY,
    })
    deployers = {
      hostile: (body) => put(hostile, body),
      honest: (source) => put(honest, { files: { 'index.ts': source }, policy: { auth: 'none', methods: ['GET'] } }),
      call: () => getByHost(app.url('fn'), `${honest.host}.${DOMAIN}`),
    }
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
    const line = ({ name, status, hostileMs, honestMs }: (typeof outcomes)[number]) =>
      `${status}  ${hostileMs.toFixed(0).padStart(6)}  ${honestMs.toFixed(0).padStart(6)}  ${name}`
    process.stdout.write(`status, ms of the hostile deploy, ms of the honest one\n${outcomes.map(line).join('\n')}\n`)
    const most = (pick: (outcome: Outcome) => number) => Math.max(...outcomes.map(pick)).toFixed(0)
    process.stdout.write(`longest: ${most((o) => o.hostileMs)} ms, ${most((o) => o.honestMs)} ms\n`)
  })

  async function addProject(name: string) {
    const sealer = createSealer(parseSecretsKey(SECRETS_KEY)!)
    const { id: organizationId } = await new Organizations(database.database).create(name)
    const credentials = { originUrl: 'http://127.0.0.1:9', jwtSecret: `jwt secret of the ${name} project, long enough` }
    const { id, hostLabel } = await new Projects(database.database, sealer).create({
      organizationId,
      ref: name,
      credentials,
    })
    const { key } = await new Keys(database.database, sealer).issue({
      organizationId,
      projectId: id,
      role: 'service_role',
    })
    return { id, host: hostLabel, key }
  }

  async function put({ id, key }: { readonly id: string; readonly key: string }, body: object) {
    const response = await fetch(`${app.origin}/v1/projects/${id}/functions/fn`, {
      method: 'PUT',
      headers: { apikey: key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: await response.json() }
  }

  test.each(Object.keys(HOSTILE_DEPLOYS))('%s', async (name) => {
    const outcome = await deployHostile(deployers, name)
    outcomes.push({ name, ...outcome })
    expect(outcome.wrong).toBeNull()
  })
})
