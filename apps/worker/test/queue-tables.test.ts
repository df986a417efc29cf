import { readFile, readdir } from 'node:fs/promises'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { createLogger } from '@terrane/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBoss } from '../src/queue/boss.ts'
import { ensureQueue } from '../src/queue/open-queue.ts'
import { QUEUE_SCHEMA, QUEUE_SCHEMA_VERSION, listDueTasks } from '../src/queue/queue-tables.ts'

const SOURCES = new URL('../src/', import.meta.url)
const logger = createLogger({ name: 'test', level: 'silent' })

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())

test('the statements on pg-boss’s tables are written for the version that the installed pg-boss makes', async () => {
  const boss = await startBoss(db.database, logger)
  const version = await boss.schemaVersion()
  await boss.stop({ graceful: false, close: false })
  // Read the statements of queue-tables.ts again before this number is raised.
  expect(version).toBe(QUEUE_SCHEMA_VERSION)
})

test('only tasks with a job that may start now are listed', async () => {
  const boss = await startBoss(db.database, logger)
  const tasks = ['createGeoEmbeddings', 'exportTable', 'importEmbeddings', 'osmImportArea'] as const
  for (const name of tasks) await ensureQueue(boss, { name, expireSeconds: 60 })
  await boss.send('createGeoEmbeddings', {})
  await boss.send('createGeoEmbeddings', {})
  await boss.send('exportTable', {}, { startAfter: 3600 })
  await boss.send('importEmbeddings', {})
  expect(await boss.fetch('importEmbeddings')).toHaveLength(1)
  expect(await listDueTasks(db.database, tasks)).toEqual(['createGeoEmbeddings'])
  await boss.stop({ graceful: false, close: false })
})

test('tables of a later pg-boss are refused', async () => {
  const next = QUEUE_SCHEMA_VERSION + 1
  await db.database.query(`update ${QUEUE_SCHEMA}.version set version = $1`, [next])
  await expect(startBoss(db.database, logger)).rejects.toMatchObject({
    code: 'QUEUE_TOO_NEW',
    message: expect.stringContaining(`version ${next}`) as string,
  })
})

test('no other file names pg-boss’s tables', async () => {
  const files = (await readdir(SOURCES, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(
    files.map(async (name) => [name, await readFile(new URL(name, SOURCES), 'utf8')] as const),
  )
  expect(texts.filter(([, text]) => /pgboss|QUEUE_SCHEMA\}/.test(text)).map(([name]) => name)).toEqual([
    'queue/queue-tables.ts',
  ])
})
