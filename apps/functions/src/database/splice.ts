import type { Socket } from 'node:net'
import type { LentSession } from '@terrane/database'
import { Exchange, isTermination } from './exchange.ts'
import { SessionDepth } from './session-depth.ts'

/** State of the session when the client left: ready, ready within a transaction, or in the middle of a message. */
export type Left = 'ready' | 'transaction' | 'unfinished'

/** A client that is connected directly to the server. */
export interface Splice {
  /** Resolves with the state of the session after the client has left and no cancellation is pending. */
  readonly left: Promise<Left>
  /** Cancels the running statement, if any. Resolves when the server has passed it on. */
  cancel(): Promise<void>
  /** Ends the connection as if the client had disconnected. */
  end(): void
}

interface SpliceOptions {
  /** Checked whenever the client sends: its session ends with the call that it belongs to. */
  readonly isWelcome: () => boolean
  /** Depth of the calls that the client works for now: `terrane.depth` of its next transaction. */
  readonly depth: () => string
}

/**
 * Connects a client to the server directly until it leaves. Only the heads of messages are read. While a cancellation
 * is on its way to the server, the client's messages are held, because the cancellation could hit the next statement.
 * The depth is set before the first transaction, and again before a transaction for which it is another.
 */
export function splice(client: Socket, session: LentSession, options: SpliceOptions): Splice {
  const { promise: left, resolve } = Promise.withResolvers<Left>()
  const server = session.lend()
  const exchange = new Exchange()
  const depth = new SessionDepth(server, options.depth)
  let cancelling: Promise<void> | null = null
  let finished = false

  const finish = (broken: boolean) => {
    if (finished) return
    finished = true
    client.off('data', onClient).off('end', gone).off('close', gone).off('drain', resumeServer)
    server.off('data', onServer).off('close', lost).off('drain', resumeClient)
    resolve(leave(broken || depth.isPending))
    depth.stop()
  }
  const leave = async (broken: boolean): Promise<Left> => {
    await cancelling
    if (broken || session.lost || exchange.isUnderWay) return 'unfinished'
    session.takeBack()
    return exchange.isInTransaction ? 'transaction' : 'ready'
  }
  const gone = () => finish(false)
  const lost = () => finish(true)
  const resumeServer = () => server.resume()
  const resumeClient = () => {
    if (cancelling === null && !server.writableNeedDrain) client.resume()
  }
  const onClient = (chunk: Buffer) => {
    if (!options.isWelcome()) return finish(true)
    if (!exchange.isUnderWay && !exchange.isInTransaction && !isTermination(chunk)) depth.set()
    const end = exchange.say(chunk)
    if (end !== null && end > 0) server.write(chunk.subarray(0, end))
    if (end !== null) return finish(end < 0)
    if (!server.write(chunk)) client.pause()
  }
  const onServer = (arrived: Buffer) => {
    const chunk = depth.show(arrived)
    exchange.hear(chunk)
    if (!client.write(chunk)) server.pause()
    if (depth.hasFailed) finish(true)
  }
  server.on('data', onServer).once('close', lost).on('drain', resumeClient)
  client.on('data', onClient).once('end', gone).once('close', gone).on('drain', resumeServer)
  server.resume()
  client.resume()

  const pass = async () => {
    client.pause()
    await depth.answered()
    await session.cancel()
    cancelling = null
    resumeClient()
  }
  const cancel = async () => {
    if (exchange.isUnderWay) await (cancelling ??= pass())
  }
  return { left, cancel, end: gone }
}
