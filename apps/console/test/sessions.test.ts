import { uuidv7 } from '@terrane/core'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EMAIL, PASSWORD, attempt, openConsole, type TestConsole } from './harness.ts'

let console: TestConsole
beforeAll(async () => {
  console = await openConsole({ TERRANE_TRUSTED_PROXIES: '127.0.0.1' })
})
afterAll(() => console[Symbol.asyncDispose]())

describe(`sessions (${testLane()})`, () => {
  test('the right password opens a session in a cookie that scripts and other sites cannot use', async () => {
    const response = await attempt(console.url, ' Ada@Example.org ', PASSWORD)
    expect(response.status).toBe(200)
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^terrane_session=[\w-]{43}; /)
    expect(cookie).toContain('Path=/api')
    expect(cookie).toContain('HttpOnly')
    expect(cookie).toContain('SameSite=Strict')
    expect(await response.json()).toMatchObject({ user: { email: EMAIL }, csrf_token: expect.any(String) })
  })

  test('behind https the cookie is for https only', async () => {
    await using secure = await openConsole({ TERRANE_CONSOLE_SECURE_COOKIES: 'true' })
    const response = await attempt(secure.url, EMAIL, PASSWORD)
    expect(response.headers.get('set-cookie')).toMatch(/^__Secure-terrane_session=.*; Secure/)
    expect(response.headers.get('strict-transport-security')).toContain('max-age=63072000')
  })

  test('neither tokens nor passwords are in the database, which has hashes of the full cost', async () => {
    await using full = await openConsole({}, null)
    const browser = await full.signIn()
    const token = browser.cookie.split('=')[1] ?? ''
    const { rows } = await full.db.database.query<{ text: string }>(
      `select coalesce(string_agg(s::text, ' '), '') || (select string_agg(u::text, ' ') from terrane.users u) as text
       from terrane.console_sessions s`,
    )
    expect(rows[0]?.text).toContain('$scrypt$ln=15,r=8,p=3$')
    expect(rows[0]?.text).not.toContain(token)
    expect(rows[0]?.text).not.toContain(PASSWORD)
  })

  test('every part of a body has a bound', () => {
    expect(console.unbounded).toEqual([])
  })

  test('every schema of every route can be compiled', () => {
    expect(() => console.compileSchemas()).not.toThrow()
  })

  test('without a session everything but sign-in and health is 401', async () => {
    for (const path of ['/api/projects', '/api/projects/demo', '/api/projects/demo/doc', '/metrics']) {
      const response = await fetch(console.url + path)
      expect(response.status).toBe(401)
    }
    expect(await (await fetch(`${console.url}/api/session`)).json()).toEqual({ user: null })
    expect((await fetch(`${console.url}/health/live`)).status).toBe(200)
  })

  test('signing out ends the session, not only the cookie', async () => {
    const browser = await console.signIn()
    expect((await browser.ask('GET', '/api/projects')).status).toBe(200)
    const out = await browser.ask('DELETE', '/api/session')
    expect(out.status).toBe(204)
    expect(out.headers.get('set-cookie')).toContain('terrane_session=;')
    expect((await browser.ask('GET', '/api/projects')).status).toBe(401)
  })

  test('a session ends when it gets too old, or is not used for long', async () => {
    for (const change of [`expires_at = now() - interval '1 second'`, `last_seen_at = now() - interval '13 hours'`]) {
      const browser = await console.signIn()
      expect((await browser.ask('GET', '/api/projects')).status).toBe(200)
      await console.db.database.query(`update terrane.console_sessions set ${change}`)
      expect((await browser.ask('GET', '/api/projects')).status).toBe(401)
    }
  })

  test('a new password ends the other sessions and needs the old one', async () => {
    const email = 'grace@example.org'
    await console.accounts.add({ email, password: PASSWORD })
    const here = await console.signIn(email)
    const elsewhere = await console.signIn(email)
    const wrong = await here.ask('PUT', '/api/account/password', { current: 'not this one', new: 'another long one' })
    expect(wrong.status).toBe(422)
    expect(await wrong.json()).toMatchObject({ code: 'PASSWORD_REFUSED', errors: [{ path: '/current' }] })
    const short = await here.ask('PUT', '/api/account/password', { current: PASSWORD, new: 'short' })
    expect(short.status).toBe(422)
    const done = await here.ask('PUT', '/api/account/password', { current: PASSWORD, new: 'another long one' })
    expect(done.status).toBe(204)
    expect((await here.ask('GET', '/api/projects')).status).toBe(200)
    expect((await elsewhere.ask('GET', '/api/projects')).status).toBe(401)
    expect((await attempt(console.url, email, PASSWORD)).status).toBe(401)
    expect((await attempt(console.url, email, 'another long one')).status).toBe(200)
  })

  test('a user who is disabled is out at once', async () => {
    const email = 'former@example.org'
    await console.accounts.add({ email, password: PASSWORD })
    const browser = await console.signIn(email)
    await console.db.database.query('update terrane.users set disabled_at = now() where email = $1', [email])
    expect((await browser.ask('GET', '/api/projects')).status).toBe(401)
    expect((await attempt(console.url, email, PASSWORD)).status).toBe(401)
  })
})

describe(`wrong passwords (${testLane()})`, () => {
  test('twenty of them are slowed down, and the account is not told from one that does not exist', async () => {
    const seen: Record<string, number[]> = {}
    for (const email of ['target@example.org', 'unknown@example.org']) {
      if (email.startsWith('target')) await console.accounts.add({ email, password: PASSWORD })
      const statuses: number[] = []
      for (let i = 0; i < 20; i++) {
        const response = await attempt(
          console.url,
          email,
          `guess ${i}`,
          email.startsWith('target') ? '198.51.100.7' : '198.51.100.8',
        )
        statuses.push(response.status)
        const { code, message } = (await response.json()) as { code: string; message: string }
        if (response.status === 429) {
          expect(code).toBe('TOO_MANY_ATTEMPTS')
          expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
        } else expect(message).toBe('E-mail address or password is wrong')
      }
      seen[email] = statuses
    }
    expect(seen['target@example.org']?.slice(0, 5)).toEqual([401, 401, 401, 401, 401])
    expect(seen['target@example.org']?.slice(5)).toContain(429)
    expect(seen['unknown@example.org']?.slice(0, 5)).toEqual([401, 401, 401, 401, 401])
    expect(seen['unknown@example.org']?.slice(5)).toContain(429)
  })

  test('the right password waits too, and works once the wait is over', async () => {
    const email = 'patient@example.org'
    await console.accounts.add({ email, password: PASSWORD })
    for (let i = 0; i < 6; i++) await attempt(console.url, email, 'wrong', '192.0.2.99')
    await block(300)
    expect((await attempt(console.url, email, PASSWORD, '192.0.2.99')).status).toBe(429)
    await block(-1)
    expect((await attempt(console.url, email, PASSWORD, '192.0.2.99')).status).toBe(200)
    // A successful sign-in removes the failures of the account.
    for (let i = 0; i < 4; i++) {
      expect((await attempt(console.url, email, 'wrong', '192.0.2.99')).status).toBe(401)
    }
  })

  test('guesses from elsewhere never delay an owner, however many', async () => {
    const email = 'owner@example.org'
    await console.accounts.add({ email, password: PASSWORD })
    for (let i = 0; i < 8; i++) await attempt(console.url, email, 'guess', `203.0.113.${i}`)
    expect((await attempt(console.url, email, PASSWORD, '192.0.2.44')).status).toBe(200)
  })

  test('an address that tries many accounts is slowed down', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 26; i++) {
      const response = await attempt(console.url, `${uuidv7()}@example.org`, 'guess', '2001:db8:1:2::' + i.toString(16))
      statuses.push(response.status)
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401))
    expect(statuses.slice(20)).toContain(429)
    // A neighbour with another /64 is not limited.
    expect((await attempt(console.url, `${uuidv7()}@example.org`, 'guess', '2001:db8:1:3::1')).status).toBe(401)
  })

  test('guesses that arrive at once do not slip through together', async () => {
    const email = 'crowd@example.org'
    await console.accounts.add({ email, password: PASSWORD })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => attempt(console.url, email, `guess ${i}`, '198.18.0.1')),
    )
    const looked = answers.filter(({ status }) => status === 401).length
    // Five attempts are free; each further one requires a wait, which doubles.
    expect(looked).toBeLessThan(10)
    expect(answers.filter(({ status }) => status === 429).length).toBe(20 - looked)
  })

  function block(seconds: number): Promise<unknown> {
    return console.db.database.query(
      `update terrane.sign_in_limits set blocked_until = clock_timestamp() + $1 * interval '1 second' where failures > 4`,
      [seconds],
    )
  }
})

describe(`forged requests (${testLane()})`, () => {
  test('a missing or foreign CSRF token is 403 and changes nothing', async () => {
    const browser = await console.signIn()
    const other = await console.signIn()
    for (const headers of [
      { 'x-csrf-token': '' },
      { 'x-csrf-token': other.csrf },
      { 'x-csrf-token': 'x'.repeat(43) },
    ]) {
      const response = await browser.ask('DELETE', '/api/session', undefined, headers)
      expect(response.status).toBe(403)
      expect(await response.json()).toMatchObject({ code: 'CSRF_REFUSED' })
    }
    const bare = await fetch(`${console.url}/api/session`, { method: 'DELETE', headers: { cookie: browser.cookie } })
    expect(bare.status).toBe(403)
    expect((await browser.ask('GET', '/api/projects')).status).toBe(200)
  })

  test('what another site starts is refused although cookie and token are right', async () => {
    const browser = await console.signIn()
    for (const site of ['cross-site', 'same-site']) {
      const response = await browser.ask('DELETE', '/api/session', undefined, { 'sec-fetch-site': site })
      expect(response.status).toBe(403)
    }
    const signIn = await fetch(`${console.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' },
      body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
    })
    expect(signIn.status).toBe(403)
    expect(signIn.headers.get('set-cookie')).toBeNull()
  })
})
