import type { FastifyReply, FastifyRequest } from 'fastify'
import { csrfRefused, notSignedIn } from '../errors.ts'
import type { Project, Projects } from '../projects/projects.ts'
import { csrfMatches, type Session, type Sessions } from './sessions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    session: Session | null
    project: Project | null
  }
}

/** Settings of the session cookie. */
export interface CookieSettings {
  /** True when the cookie is for https only. */
  readonly secure: boolean
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Guards every path under /api except sign-in: requires a valid session, and for requests that change something the
 * session's CSRF token in a header, which other sites can neither read nor send.
 *
 * @throws NOT_SIGNED_IN, CSRF_REFUSED
 */
export function requireSession(sessions: Sessions, cookie: CookieSettings): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const session = await findSession(request, sessions, cookie)
    if (!session) throw notSignedIn()
    refuseOtherSites(request)
    if (!SAFE.has(request.method)) {
      const sent = request.headers['x-csrf-token']
      if (sent === undefined) throw csrfRefused({ reason: 'the CSRF token is missing' })
      if (!csrfMatches(session, sent)) throw csrfRefused({ reason: 'the CSRF token is not that of this session' })
    }
    request.session = session
  }
}

/** The session of the request's cookie, or null. */
export async function findSession(
  request: FastifyRequest,
  sessions: Sessions,
  cookie: CookieSettings,
): Promise<Session | null> {
  const token = request.cookies[cookieName(cookie)]
  return token ? sessions.find(token) : null
}

/**
 * Refuses requests that, according to the browser, another site's page started: a second check beside the token, and
 * the only one at sign-in.
 *
 * @throws CSRF_REFUSED
 */
export function refuseOtherSites(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site']
  if (SAFE.has(request.method) || site === undefined || site === 'same-origin' || site === 'none') return
  throw csrfRefused({ reason: 'it comes from a page of another origin' })
}

/**
 * Opens the project of the path for the signed-in user.
 *
 * @throws PROJECT_NOT_FOUND, also when it is another organization's, and PROJECT_AMBIGUOUS
 */
export function requireProject(projects: Projects): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    request.project = await projects.get(sessionOf(request).user.id, addressOf(request))
  }
}

/** The project name in a path: a reference or an id. */
export function addressOf(request: FastifyRequest): string {
  return (request.params as { ref: string }).ref
}

/** The session of a request that has passed the guard. */
export function sessionOf(request: FastifyRequest): Session {
  if (!request.session) throw new Error('the route is not behind the door')
  return request.session
}

/** The project of a request that has passed the guard. */
export function projectOf(request: FastifyRequest): Project {
  if (!request.project) throw new Error('the route is not behind the door of a project')
  return request.project
}

/**
 * Sets the session cookie. It is sent to /api only, so that other services on the same host, such as functions of a
 * project, never receive it.
 */
export function setSessionCookie(reply: FastifyReply, token: string, session: Session, cookie: CookieSettings): void {
  reply.setCookie(cookieName(cookie), token, { ...attributes(cookie), expires: session.expiresAt })
}

export function clearSessionCookie(reply: FastifyReply, cookie: CookieSettings): void {
  reply.clearCookie(cookieName(cookie), attributes(cookie))
}

function cookieName({ secure }: CookieSettings): string {
  return secure ? '__Secure-terrane_session' : 'terrane_session'
}

function attributes({ secure }: CookieSettings) {
  return { path: '/api', httpOnly: true, sameSite: 'strict', secure } as const
}
