import { isLost } from './explain.ts'

/** Opens the body of an answer from an offset on. */
export type OpenBody = (from: number) => Promise<AsyncIterable<Uint8Array> & { destroy(error?: Error): void }>

/**
 * Reads a body to its end. A lost or stalled connection is resumed at the same byte, a few times in a row without
 * progress. An abort ends it with the reason of the signal.
 *
 * @param first the already open body
 */
export async function* readBody(
  first: Awaited<ReturnType<OpenBody>>,
  length: number,
  reopen: OpenBody,
  options: { readonly attempts: number; readonly idleMs: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  let body = first
  let read = 0
  let failures = 0
  for (;;) {
    let idle: NodeJS.Timeout | undefined
    const stop = () => body.destroy(new Error('aborted'))
    options.signal?.addEventListener('abort', stop)
    const watch = () => {
      clearTimeout(idle)
      idle = setTimeout(() => body.destroy(Object.assign(new Error('stalled'), { code: 'ETIMEDOUT' })), options.idleMs)
    }
    try {
      watch()
      for await (const chunk of body) {
        // Time that the reader takes does not count as idle time of the storage.
        clearTimeout(idle)
        read += chunk.byteLength
        failures = 0
        yield chunk
        options.signal?.throwIfAborted()
        watch()
      }
      if (read >= length) return
      throw Object.assign(new Error('the answer ended early'), { code: 'ECONNRESET' })
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!isLost(error) || ++failures >= options.attempts) throw error
    } finally {
      clearTimeout(idle)
      options.signal?.removeEventListener('abort', stop)
      body.destroy()
    }
    body = await reopen(read)
  }
}
