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

/** Cases that take the bundler to its bounds take seconds: three of them here, all of them in the long suite. */
const BOUNDS = ['a million brackets', 'nine million elements', 'a policy 1,000 deep']
const LONG = /million|deep|times|elements|MB|thousand|1,500/
const everyday = Object.keys(HOSTILE_DEPLOYS).filter((name) => !LONG.test(name))

test.each(BOUNDS)('%s', async (name) => {
  expect(await deployHostile(inOneProject(app), name)).toMatchObject({ wrong: null })
})

test('all others, one after the other beside an honest deploy', async () => {
  const by = inOneProject(app)
  const honest = by.honest(`export default () => new Response('honest')`)
  for (const name of everyday) {
    const { files, policy = {}, met } = HOSTILE_DEPLOYS[name]!()
    const { status } = await by.hostile({ files, policy })
    expect([name, met]).toEqual([name, expect.arrayContaining([status])])
  }
  expect((await honest).status).toBe(201)
  expect(await by.call()).toBe('honest')
})
