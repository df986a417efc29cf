import { Problem, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type, type Static } from 'typebox'
import { normaliseEmail, type Accounts } from '../accounts/accounts.ts'
import { MAX_PASSWORD, MIN_PASSWORD } from '../accounts/password.ts'
import { passwordUnchanged, tooManyAttempts, wrongPassword } from '../errors.ts'
import {
  clearSessionCookie,
  findSession,
  refuseOtherSites,
  sessionOf,
  setSessionCookie,
  type CookieSettings,
} from '../sessions/guard.ts'
import type { Session, Sessions } from '../sessions/sessions.ts'
import type { Attempt, SignInLimits } from '../sessions/sign-in-limits.ts'
import type { FastifyReply } from 'fastify'

export interface SessionDeps {
  readonly accounts: Accounts
  readonly sessions: Sessions
  readonly limits: SignInLimits
  readonly cookie: CookieSettings
}

/** Enough for an address and two passwords. */
const SIGN_IN_BYTES = 16_384

const SignIn = Type.Object(
  {
    email: Type.String({ minLength: 3, maxLength: 254 }),
    password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD }),
  },
  { additionalProperties: false },
)
const ChangePassword = Type.Object(
  {
    current: Type.String({ minLength: 1, maxLength: MAX_PASSWORD }),
    new: Type.String({ minLength: MIN_PASSWORD, maxLength: MAX_PASSWORD }),
  },
  { additionalProperties: false },
)
const SessionShown = Type.Object({
  user: Type.Object({ id: Type.String(), email: Type.String(), name: Type.String() }),
  csrf_token: Type.String({ description: 'Goes into the header x-csrf-token of POST, PUT and DELETE.' }),
  expires_at: Type.String({ format: 'date-time' }),
})
const NoSession = Type.Object({ user: Type.Null() })
const problems = { '4xx': ref(Problem), '5xx': ref(Problem) }

/** `POST /api/session`: sign in; `GET /api/session`: the signed-in user, if any. Both work without a session. */
export function signInRoutes(app: Http, deps: SessionDeps): void {
  const schema = { tags: ['session'], body: SignIn, response: { 200: SessionShown, ...problems } }
  app.post('/api/session', { schema, bodyLimit: SIGN_IN_BYTES }, async (request, reply) => {
    refuseOtherSites(request)
    const email = normaliseEmail(request.body.email)
    const attempt = await begin(reply, await deps.limits.begin(email, request.ip))
    const user = await deps.accounts.authenticate(email, request.body.password, attempt.failures)
    if (!user) throw wrongPassword()
    await attempt.succeeded()
    const { session, token } = await deps.sessions.open(user)
    setSessionCookie(reply, token, session, deps.cookie)
    return shown(session)
  })
  const mine = { tags: ['session'], response: { 200: Type.Union([SessionShown, NoSession]), ...problems } }
  app.get('/api/session', { schema: mine }, async (request) => {
    const session = await findSession(request, deps.sessions, deps.cookie)
    return session ? shown(session) : { user: null }
  })
}

/** `DELETE /api/session`: sign out; `PUT /api/account/password`. */
export function sessionRoutes(app: Http, deps: SessionDeps): void {
  app.delete('/api/session', { schema: { tags: ['session'], response: problems } }, async (request, reply) => {
    await deps.sessions.close(sessionOf(request))
    clearSessionCookie(reply, deps.cookie)
    return reply.code(204).send(undefined as never)
  })
  app.put(
    '/api/account/password',
    { bodyLimit: SIGN_IN_BYTES, schema: { tags: ['session'], body: ChangePassword, response: problems } },
    async (request, reply) => {
      const { user, tokenSha256 } = sessionOf(request)
      const attempt = await begin(reply, await deps.limits.begin(user.email, request.ip))
      if (!(await deps.accounts.authenticate(user.email, request.body.current, attempt.failures))) {
        throw passwordUnchanged({ path: '/current', message: 'is not the current password' })
      }
      await attempt.succeeded()
      await deps.accounts.setPassword(user.email, request.body.new, tokenSha256)
      return reply.code(204).send(undefined as never)
    },
  )
}

async function begin(reply: FastifyReply, attempt: Attempt): Promise<Attempt> {
  if (attempt.waitSeconds === 0) return attempt
  reply.header('retry-after', attempt.waitSeconds)
  throw tooManyAttempts({ seconds: attempt.waitSeconds })
}

function shown(session: Session): Static<typeof SessionShown> {
  const { user, csrfToken, expiresAt } = session
  return { user, csrf_token: csrfToken, expires_at: expiresAt.toISOString() }
}
