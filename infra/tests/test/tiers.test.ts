import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT, TEST_FILES, filesOf, folderOf, supportOf, tierOf } from '../src/tiers.ts'

const files = globSync(TEST_FILES, { cwd: ROOT })
/** Files that fail occasionally and must not fail a run. It stays empty: a flaky test is fixed or removed. */
const QUARANTINE: readonly string[] = []

test('no file is in quarantine', () => {
  expect(QUARANTINE).toEqual([])
})

test.each([
  ['packages/core/src/uuid.test.ts', 'unit'],
  ['packages/database/src/database.test.ts', 'database'],
  // Through its harness.
  ['apps/worker/test/jobs.test.ts', 'database'],
  ['apps/router/test/build-graph.test.ts', 'process'],
  ['infra/local/test/functions.test.ts', 'stack'],
  ['packages/routing/test/long/law.long.test.ts', 'long'],
])('%s belongs to the tier %s', (file, tier) => {
  expect(tierOf(file)).toBe(tier)
})

test('the support files of a suite are what it imports or starts, itself or by way of others', () => {
  const support = supportOf('apps/worker/test/long/stop.long.test.ts')
  expect(support).toContain('apps/worker/test/long/task-cases.ts')
  expect(support).toContain('apps/worker/test/task-runner.ts')
  expect(support.filter((path) => !path.includes('/test/'))).toEqual([])
})

test('every file runs in one of the lanes, and on PostgreSQL only what uses a database', () => {
  const folders = [...new Set(files.map(folderOf))]
  const lanes = (['everyday', 'postgres', 'long'] as const).map((lane) =>
    folders.flatMap((folder) => filesOf(folder, lane)),
  )
  const [everyday, postgres, long] = lanes as [string[], string[], string[]]
  expect([...everyday, ...long].toSorted()).toEqual(files.toSorted())
  expect(postgres.filter((file) => !['database', 'stack'].includes(tierOf(file)))).toEqual([])
  expect(everyday.filter((file) => file.includes('.long.'))).toEqual([])
})
