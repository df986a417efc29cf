import { openTestDatabase } from '@terrane/database/testing'
import { expect, test } from 'vitest'
import { LentSession } from './lent-session.ts'

test('who borrows a session learns nothing of the client that has the embedded database', async () => {
  await using db = await openTestDatabase()
  const { username, password } = new URL(db.url)
  const login = { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  const session = await db.database.transaction(() =>
    LentSession.open({ url: db.url, ...login, applicationName: 'terrane function' }),
  )
  session.close()
  expect(session.held).toEqual(db.database.capabilities.parallel ? undefined : expect.stringMatching(/^\d+ ./))
  expect([...session.parameters.keys()].filter((name) => name.startsWith('terrane'))).toEqual([])
})
