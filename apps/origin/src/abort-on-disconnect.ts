import type { FastifyReply, FastifyRequest } from 'fastify'

type Handler = (request: FastifyRequest, reply: FastifyReply, signal: AbortSignal) => Promise<unknown>

/** Aborts the work of a request when its client disconnects. */
export function abortOnDisconnect(
  handler: Handler,
): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  return async (request, reply) => {
    const gone = new AbortController()
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort(new DOMException('the caller is gone', 'AbortError'))
    })
    try {
      return await handler(request, reply, gone.signal)
    } catch (error) {
      if (!gone.signal.aborted) throw error
      reply.hijack()
      return reply
    }
  }
}
