import { EXPORT_FORMATS } from '@terrane/contracts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomRoundTrip } from '../round-trip.ts'
import { ALL_FAULTS } from './task-cases.ts'

const SEEDS = ALL_FAULTS ? 20 : 3
let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())

describe('random layers that are exported and imported again are what they were', () => {
  test.each(EXPORT_FORMATS)('%s', async (format) => {
    for (let seed = 1; seed <= SEEDS; seed++) expect(await randomRoundTrip(db.database, format, seed)).toEqual([])
  })
})
