import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { startApp, type TestApp } from '../support/app.ts'
import { HOSTILE_DEPLOYS, deployHostile } from '../support/hostile-deploys.ts'

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

test.each(Object.keys(HOSTILE_DEPLOYS))('%s', async (name) => {
  expect(await deployHostile(app, name)).toBeNull()
})
