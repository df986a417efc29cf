import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
  const env = { DATABASE_URL: db.url, TERRANE_SECRETS_KEY: 'ab'.repeat(32) }
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
      const organization = await accounts.addOrganization('Survey', randomUUID())
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

  test('seals how a project is reached, and refuses one that is not registered or not described', SLOW, async () => {
    const organization = await accounts.addOrganization('Survey', randomUUID())
    await db.database.query('insert into terrane.projects (ref, organization_id) values ($1, $2)', [
      'gamma',
      organization,
    ])
    const connection = JSON.stringify({ originUrl: 'https://gamma.example.org', serviceRoleKey: 'gamma-secret' })
    expect(await cli(['project', 'connect', 'gamma', 'Gamma'], connection)).toMatchObject({ code: 0 })
    expect(await cli(['organization', 'key', organization], 'pool-secret\n')).toMatchObject({ code: 0 })
    const { rows } = await db.database.query<{ text: string }>(
      `select (select string_agg(p::text, '') from terrane.console_projects p) ||
              (select string_agg(o::text, '') from terrane.console_organizations o) as text`,
    )
    expect(rows[0]?.text).toContain('Gamma')
    expect(rows[0]?.text).not.toMatch(/gamma-secret|pool-secret/)
    expect((await cli(['project', 'connect', 'delta'], connection)).stderr).toContain('no project delta')
    expect((await cli(['project', 'connect', 'gamma'], '{"originUrl": "ftp://x"}')).code).toBe(2)
  })

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
