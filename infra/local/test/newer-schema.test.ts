import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { compileCache } from '@terrane/testing/compile-cache'
import { makeKeys, type Keys } from '../src/keys.ts'

let db: TestDatabase
let folder: string
let keys: Keys
beforeAll(async () => {
  db = await openTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'terrane-newer-'))
  keys = await makeKeys('local')
  await db.database.query(`insert into terrane.migrations (id, sha256) values ('control/9999_of_the_future', '')`)
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

test.each(['worker', 'functions', 'console', 'origin'])(
  '%s of an earlier version does not start on the schema',
  async (name) => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL(`../../../apps/${name}/src/main.ts`, import.meta.url))],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          ...compileCache,
          // oxlint-disable-next-line node/no-process-env -- Programs are looked up on PATH.
          PATH: process.env['PATH'] ?? '',
          PORT: '0',
          LOG_LEVEL: 'silent',
          DATABASE_URL: db.url,
          TERRANE_HOME: folder,
          TERRANE_STORAGE: `file:${join(folder, 'storage')}`,
          TERRANE_FUNCTIONS_DIR: folder,
          TERRANE_CONTROL_DATABASE_URL: db.url,
          TERRANE_UPLOAD_DIR: join(folder, 'uploads'),
          TERRANE_WORK_DIR: join(folder, 'work'),
          TERRANE_PROJECT_URL: 'http://127.0.0.1:9',
          TERRANE_JWT_SECRET: keys.jwtSecret,
          TERRANE_ANON_KEY: keys.anonKey,
          TERRANE_SERVICE_ROLE_KEY: keys.serviceRoleKey,
          TERRANE_SECRETS_KEY: keys.secretsKey,
          TERRANE_CONSOLE_EMAIL: 'ada@example.org',
          TERRANE_CONSOLE_PASSWORD: keys.consolePassword,
        },
      },
    )
    const said = await text(child.stderr)
    expect(said).toMatch(/SCHEMA_TOO_NEW/)
    expect(said).toContain('control/9999_of_the_future')
  },
)
