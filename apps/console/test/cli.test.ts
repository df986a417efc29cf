import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Organizations } from '@terrane/control'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileCache } from '@terrane/testing/compile-cache'
import { Accounts } from '../src/accounts/accounts.ts'

/** Each command is a process of its own that checks the migrations first. */
const SLOW = { timeout: 240_000 }

let db: TestDatabase
let accounts: Accounts
beforeAll(async () => {
  db = await openTestDatabase()
  accounts = new Accounts(db.database)
})
afterAll(() => db[Symbol.asyncDispose]())

function cli(args: string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...compileCache, DATABASE_URL: db.url }
  return new Promise((resolve) => {
    const program = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
    const child = execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

describe(`the command line of the console (${testLane()})`, () => {
  test(
    'makes users with a password from standard input, members of organizations, and sets new passwords',
    SLOW,
    async () => {
      const { id: organization } = await new Organizations(db.database).create('Survey')
      expect(await cli(['user', 'add', 'Eve@example.org', 'Eve'], 'a long password\n')).toMatchObject({ code: 0 })
      expect((await cli(['user', 'add', 'eve@example.org'], 'a long password\n')).stderr).toContain('there is a user')
      expect(await cli(['member', 'add', 'eve@example.org', organization])).toMatchObject({ code: 0 })
      expect(await accounts.authenticate('eve@example.org', 'a long password')).toMatchObject({ name: 'Eve' })
      expect(await cli(['user', 'password', 'eve@example.org'], 'an even longer one\n')).toMatchObject({ code: 0 })
      expect(await accounts.authenticate('eve@example.org', 'a long password')).toBeNull()
      expect(await cli(['member', 'remove', 'eve@example.org', organization])).toMatchObject({ code: 0 })
      expect((await cli(['member', 'remove', 'eve@example.org', organization])).code).toBe(1)
    },
  )

  test('a short password, a missing argument and an unknown command are told with the usage', SLOW, async () => {
    for (const args of [
      ['user', 'add', 'mallory@example.org'],
      ['user', 'add'],
      ['users', 'list'],
    ]) {
      const { code, stderr } = await cli(args, 'short\n')
      expect(code).toBe(2)
      expect(stderr).toContain('Usage:')
    }
  })
})
