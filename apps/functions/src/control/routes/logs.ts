import { Readable } from 'node:stream'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { functionNotFound } from '../../errors.ts'
import { matches, type LogEntry, type LogFilter } from '../../observe/log-book.ts'
import type { ControlDeps } from '../control-deps.ts'
import { FunctionParams, LogsQuery, answers, describe } from '../schemas.ts'

/** A reader that falls this many bytes behind is disconnected. */
const MAX_BEHIND = 4 * 1024 * 1024

/** `GET …/functions/{name}/logs`: one JSON object per line, oldest first. */
export function logRoute(app: Http, deps: ControlDeps): void {
  const schema = describe('Read what this host has logged about a function.', {
    params: FunctionParams,
    querystring: LogsQuery,
    response: answers(Type.Unsafe<Readable>({ type: 'string', description: 'application/x-ndjson' })),
  })
  app.get('/v1/projects/:ref/functions/:name/logs', { schema }, async (request, reply) => {
    const { ref, name } = request.params
    const { limit, follow, search, level, request_id: requestId } = request.query
    const filter: LogFilter = {
      ...(search !== undefined && { search }),
      ...(level !== undefined && { level }),
      ...(requestId !== undefined && { requestId }),
    }
    const entries = deps.logBook.latest(ref, name, limit, filter)
    const known = deps.functions.get(ref, name) ?? deps.functions.isBroken(ref, name)
    if (entries.length === 0 && !known && !(await deps.deployed?.registry.live(ref, name)))
      throw functionNotFound({ name })
    const stream = new Readable({ read() {} })
    const write = (entry: LogEntry) => stream.push(`${JSON.stringify(entry)}\n`)
    for (const entry of entries) write(entry)
    const add = (entry: LogEntry) => matches(entry, filter) && write(entry)
    if (follow) followInto(stream, (onEntry) => deps.logBook.follow(ref, name, onEntry), add)
    else stream.push(null)
    return reply.type('application/x-ndjson').send(stream)
  })
}

function followInto(
  stream: Readable,
  follow: (onEntry: (entry: LogEntry | null) => void) => () => void,
  write: (entry: LogEntry) => unknown,
): void {
  const stop = follow((entry) => {
    if (entry === null) stream.push(null)
    else if (stream.readableLength > MAX_BEHIND) stream.destroy()
    else write(entry)
  })
  stream.once('close', stop)
}
