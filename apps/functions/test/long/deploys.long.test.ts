import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { startApp, type TestApp } from '../support/app.ts'

// oxlint-disable-next-line node/no-process-env -- set for a longer run of the tests
const DEPLOYS = process.env['TERRANE_TEST_ALL_FAULTS'] === '1' ? 100 : 30
const CALLERS = 16
let database: TestDatabase
let app: TestApp

beforeAll(async () => {
  database = await openTestDatabase()
  app = await startApp({ DATABASE_URL: database.url })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

test(`${DEPLOYS} deploys under load, one in ten broken: no call fails, and versions only go up`, async () => {
  const source = (text: string) =>
    `export default async () => { await new Promise((r) => setTimeout(r, 5)); return new Response('${text}') }`
  await app.deploy('fn', source('0'))
  const stop = new AbortController()
  const failed: string[] = []
  let calls = 0
  let backwards = 0
  const callers = Array.from({ length: CALLERS }, async () => {
    let newest = 0
    while (!stop.signal.aborted) {
      const response = await fetch(app.url('fn'))
      const text = await response.text()
      calls++
      if (response.status !== 200) failed.push(`${response.status} ${text}`)
      else if (Number(text) < newest) backwards++
      else newest = Number(text)
    }
  })
  const refused: string[] = []
  for (let i = 1; i <= DEPLOYS; i++) {
    const broken = i % 10 === 0
    const result = await app.deploy('fn', broken ? `throw new Error('broken ${i}')` : source(String(i)))
    if (result.status !== 201) refused.push(`${i}: ${result.status} ${String(result.body['message'])}`)
  }
  await expect.poll(async () => (await fetch(app.url('fn'))).text()).toBe(String(DEPLOYS - 1))
  stop.abort()
  await Promise.all(callers)
  expect(failed).toEqual([])
  expect(backwards).toBe(0)
  expect(refused).toEqual(
    Array.from(
      { length: DEPLOYS / 10 },
      (_, i) => `${(i + 1) * 10}: 422 The function does not start: Error: broken ${(i + 1) * 10}`,
    ),
  )
  expect(calls).toBeGreaterThan(1000)
  process.stdout.write(`${calls} calls during ${DEPLOYS} deploys, 0 failed\n`)
  const { data } = (await app.control('GET', '/functions/fn/versions')).body as { data: { version: number }[] }
  expect(data.length).toBe(20)
})
