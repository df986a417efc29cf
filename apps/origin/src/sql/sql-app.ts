import { IDENTIFIER_PATTERN } from '@terrane/contracts/names'
import type { Session } from '@terrane/database'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { compressAnswers } from '../compression.ts'
import type { RestDeps } from '../rest/call.ts'
import { RestError, sendRestError, toRestError } from '../rest/errors.ts'
import { runAs } from '../rest/execute.ts'
import { badBody, serviceRoleOnly, statementTooSlow, statementsBusy } from './errors.ts'
import { readParameters } from './parameters.ts'
import * as statements from './statements.ts'

type SqlDeps = Pick<RestDeps, 'database' | 'authenticate'>

/** Maximum concurrent statements in a process; the other connections of the pool stay free. */
const MOST_AT_ONCE = 2
const MOST_WAITING = 8
const BODY_BYTES = 262_144
const SQL_LENGTH = 100_000
/** Longer expressions overflow the stack of the embedded database and end it. */
const EMBEDDED_SQL_LENGTH = 10_000
const ROWS = 1000
/** Characters; a comment has at most 2000, in which quotes and line ends are written with two. */
const MOST_ATTRIBUTION = 900
/** Characters that JSON writes with six. */
const LONG_IN_JSON = /[^\P{Cc}\n\r\t]|\p{Cs}/u
const MOST_ROWS = 10_000

/**
 * `/sql/v1`: SQL written by members of a project, for the service role only. Each request has one statement that reads.
 * The server keeps it in its role (migration 0280), and its connection is closed afterwards, because it may have
 * changed settings. `POST plan`, `rows`, `table`, `query`, `queries`, `remove`.
 */
export async function sqlRoutes(app: Http, deps: SqlDeps): Promise<void> {
  const running = new RunningStatements(deps)
  const isShared = !deps.database.capabilities.parallel
  const longest = isShared ? EMBEDDED_SQL_LENGTH : SQL_LENGTH
  // Timeouts are shorter on the embedded database, because its one session serves all callers.
  const read: Transaction = { readOnly: true, timeoutMs: isShared ? 10_000 : 20_000 }
  const keep: Transaction = { readOnly: false, timeoutMs: isShared ? 60_000 : 300_000 }
  await app.register(
    async (scope) => {
      scope.setErrorHandler((thrown, request, reply) => sendRestError(thrown, request, reply, errorOf(thrown)))
      compressAnswers(scope)
      scope.addHook('onRequest', async (request) => {
        const principal = await deps.authenticate(request)
        if (principal.role !== 'service_role') throw serviceRoleOnly()
        request.restCaller = principal
      })
      const post = (path: string, work: (body: Body, run: Run) => Promise<unknown>) =>
        scope.post(
          path,
          { bodyLimit: BODY_BYTES },
          running.route((request, run) => work(readBody(request.body, longest), run)),
        )
      post('/plan', (body, run) => run(read, (session) => statements.planStatement(session, body)))
      post('/rows', (body, run) => run(read, (session) => statements.readStatement(session, body, limitOf(body))))
      post('/table', async (body, run) => {
        const about = { name: nameOf(body), attribution: attributionOf(body) }
        return {
          table: `public.${about.name}`,
          rows: await run(keep, (session) => statements.keepTable(session, body, about)),
        }
      })
      post('/query', async (body, run) => {
        const name = nameOf(body)
        await run(keep, (session) => statements.keepQuery(session, body, name))
        return { view: `public.${name}`, rpc: `/rest/v1/rpc/${name}` }
      })
      scope.post(
        '/queries',
        running.route((_request, run) => run(read, statements.keptQueries)),
      )
      scope.post(
        '/remove',
        { bodyLimit: BODY_BYTES },
        running.route(async (request, run) => {
          const name = nameOf(request.body ?? {})
          await run(keep, (session) => statements.removeQuery(session, name))
          return { removed: name }
        }),
      )
    },
    { prefix: '/sql/v1' },
  )
}

/** Error classes that the user's SQL causes here, though `/rest/v1` treats them as its own faults. */
const CAUSED = /^(?:25|2D|2F|38|39|54|55|F0|P0|XX|42)/

function errorOf(thrown: unknown): RestError {
  const error = toRestError(thrown, false)
  if (error.status !== 500 || !CAUSED.test(error.code)) return error
  return new RestError(400, error.code, error.message, { details: error.details, hint: error.hint })
}

interface Transaction {
  readonly readOnly: boolean
  readonly timeoutMs: number
}

type Run = <T>(how: Transaction, work: (session: Session) => Promise<T>) => Promise<T>

class RunningStatements {
  readonly #deps: SqlDeps
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(deps: SqlDeps) {
    this.#deps = deps
  }

  route(handler: (request: FastifyRequest, run: Run) => Promise<unknown>) {
    return abortOnDisconnect(async (request, reply: FastifyReply, gone) => {
      await this.#turn(gone)
      try {
        const value = await handler(request, (how, work) => this.#run(request, gone, how, work))
        return reply.type('application/json; charset=utf-8').send(value)
      } finally {
        const [next] = this.#waiting
        if (next) {
          this.#waiting.delete(next)
          next()
        } else this.#running--
      }
    })
  }

  /** Waits until the statement may start. @throws STATEMENTS_BUSY */
  async #turn(gone: AbortSignal): Promise<void> {
    if (this.#running < MOST_AT_ONCE) {
      this.#running++
      return
    }
    if (this.#waiting.size >= MOST_WAITING) throw statementsBusy(MOST_WAITING)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => reject(gone.reason as Error)
    this.#waiting.add(resolve)
    gone.addEventListener('abort', leave)
    await promise.finally(() => {
      this.#waiting.delete(resolve)
      gone.removeEventListener('abort', leave)
    })
  }

  async #run<T>(
    request: FastifyRequest,
    gone: AbortSignal,
    { readOnly, timeoutMs }: Transaction,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    // Covers all of the work; the server's timeout is per statement and is missing on the embedded database.
    const late = AbortSignal.timeout(timeoutMs)
    const database = this.#deps.database.withSignal(AbortSignal.any([gone, late]))
    const as = { principal: request.restCaller!, schema: 'public', readOnly, rollback: readOnly, timeoutMs }
    try {
      return await runAs(database, as, (session) => {
        session.discard()
        return work(session)
      })
    } catch (error) {
      const isLate = late.aborted || (error as { code?: unknown }).code === '57014'
      throw isLate && !gone.aborted ? statementTooSlow(timeoutMs / 1000) : error
    }
  }
}

interface Named {
  readonly name?: unknown
}

interface Body extends statements.Statement, Named {
  readonly limit: unknown
  readonly attribution: unknown
}

function readBody(body: unknown, longest: number): Body {
  const { sql, parameters, limit, name, attribution } = (body ?? {}) as Record<string, unknown>
  if (typeof sql !== 'string' || sql.trim() === '' || sql.length > longest || sql.includes('\0'))
    throw badBody('sql', `a statement of at most ${longest} characters`)
  return { sql: withoutEnd(sql), parameters: readParameters(parameters), limit, name, attribution }
}

/** The statement without semicolons at its end. */
function withoutEnd(sql: string): string {
  let end = sql.length
  while (end > 0 && /[\s;]/.test(sql[end - 1]!)) end--
  return sql.slice(0, end)
}

function limitOf({ limit = ROWS }: Body): number {
  if (Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= MOST_ROWS) return limit as number
  throw badBody('limit', `a whole number from 1 to ${MOST_ROWS}`)
}

function attributionOf({ attribution = null }: Body): string | null {
  if (attribution === null) return null
  if (typeof attribution === 'string' && attribution.length <= MOST_ATTRIBUTION && !LONG_IN_JSON.test(attribution))
    return attribution.trim() || null
  throw badBody('attribution', `a text of at most ${MOST_ATTRIBUTION} characters without control characters`)
}

function nameOf({ name }: Named): string {
  if (typeof name === 'string' && new RegExp(IDENTIFIER_PATTERN).test(name)) return name
  throw badBody('name', 'a name of lower-case letters, digits and _')
}
