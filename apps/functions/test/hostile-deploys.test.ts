// Slow: each hostile deploy is bundled and started.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { startApp, type TestApp } from './support/app.ts'
import { HOSTILE_DEPLOYS, deployHostile, inOneProject } from './support/hostile-deploys.ts'

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

/** Cases that take the bundler to its bounds take seconds: two of them here, all of them in the long suite. */
const LONG = /deep|times|elements|MB|thousand|1,500/
const everyday = Object.keys(HOSTILE_DEPLOYS).filter((name) => !LONG.test(name))

test.each(['nine million elements', 'a policy 1,000 deep', ...everyday])('%s', async (name) => {
  expect(await deployHostile(inOneProject(app), name)).toMatchObject({ wrong: null })
})
