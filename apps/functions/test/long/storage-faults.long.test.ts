// Waits: for the time limits of a storage that does not answer.
import { openTestDatabase, testLane } from '@terrane/database/testing'
import { shareOfRun } from '@terrane/testing/property'
import { awsAt, startFaultProxy, startFaux, type Fault, type FaultProxy } from '@terrane/testing/s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStatelessApi, startApp, type TestApp } from '../support/app.ts'

/** An operation of small answers has 20 s; a deploy makes three of them at most before it gives up. */
const LONGEST_MS = 45_000
const FAULTS = ['503', 'reset', 'cut', 'stall', 'hang'] satisfies Fault[]
/** A refusal and a timeout; other faults look the same to the caller of a store. */
const SOME = ['503', 'hang'] satisfies Fault[]
const AWAY = shareOfRun('functions: a storage that is away', FAULTS, 3)
const says = (text: string) => `export default () => new Response(${JSON.stringify(text)})`

const opened = new AsyncDisposableStack()
let proxy: FaultProxy
let app: TestApp
let env: Record<string, string>
beforeAll(async () => {
  const database = opened.use(await openTestDatabase())
  const emulator = opened.use(await startFaux())
  proxy = opened.use(await startFaultProxy(emulator.port))
  const TERRANE_PROJECT_URL = opened.use(await openStatelessApi()).url
  env = {
    DATABASE_URL: database.url,
    TERRANE_PROJECT_URL,
    TERRANE_FUNCTIONS_STORAGE: 's3://bucket/f',
    ...awsAt(proxy.port),
  }
  app = opened.use(await startApp(env))
})
afterAll(() => opened.disposeAsync())

const call = async (host: TestApp, name: string) => {
  const response = await fetch(host.url(name))
  return `${response.status} ${response.status === 200 ? await response.text() : response.headers.get('x-error-code')}`
}

describe(`a storage of archives that fails (${testLane()})`, () => {
  test.each(AWAY)('a deploy says so in its time and changes nothing, and works when it is back: %s', async (fault) => {
    const name = `deploy-${fault}`
    expect(await app.deploy(name, says('one'))).toMatchObject({ status: 201 })
    proxy.fail(fault)
    const began = performance.now()
    const refused = await app.deploy(name, says(`two ${fault}`))
    const ms = performance.now() - began
    expect(refused).toMatchObject({ status: 503, body: { code: 'STORAGE_UNAVAILABLE' } })
    expect(ms).toBeLessThan(LONGEST_MS)
    expect(await call(app, name)).toBe('200 one')
    proxy.heal()
    expect(await app.deploy(name, says(`two ${fault}`))).toMatchObject({ status: 201, body: { version: 2 } })
    expect(await call(app, name)).toBe(`200 two ${fault}`)
  })

  test.each(SOME)('a deploy outlives one lost connection: %s', async (fault) => {
    proxy.fail(fault, 1)
    expect(await app.deploy(`once-${fault}`, says(fault))).toMatchObject({ status: 201 })
    proxy.heal()
    expect(await call(app, `once-${fault}`)).toBe(`200 ${fault}`)
  })

  test.each(SOME)('a function is removed all the same: %s', async (fault) => {
    const name = `gone-${fault}`
    expect(await app.deploy(name, says(name))).toMatchObject({ status: 201 })
    proxy.fail(fault)
    const removed = await app.control('DELETE', `/functions/${name}`)
    expect(removed.status).toBeLessThan(300)
    expect(await call(app, name)).toBe('404 FUNCTION_NOT_FOUND')
    proxy.heal()
  })

  test.each(SOME)(
    'another host cannot start a function that it has not, and does when it is back: %s',
    async (fault) => {
      const name = `fetched-${fault}`
      expect(await app.deploy(name, says(name))).toMatchObject({ status: 201 })
      await using other = await startApp(env)
      proxy.fail(fault)
      expect(await call(other, name)).toMatch(/^503 /)
      expect(await call(app, name)).toBe(`200 ${name}`)
      proxy.heal()
      await expect.poll(() => call(other, name)).toBe(`200 ${name}`)
    },
  )
})
