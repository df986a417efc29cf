import type { Socket } from 'node:net'
import type { LentSession } from '@terrane/database'
import { Frames } from './frames.ts'
import { HiddenAnswer, queryMessage } from './hidden-answer.ts'

/** State of the session when the client left: ready, ready within a transaction, or in the middle of a message. */
export type Left = 'ready' | 'transaction' | 'unfinished'

/** A client that is connected directly to the server. */
export interface Splice {
  /** Resolves with the state of the session after the client has left and no cancellation is pending. */
  readonly left: Promise<Left>
  /** Cancels the running statement, if any. Resolves when the server has passed it on. */
  cancel(): Promise<void>
  /** Ends it as if the client had left. */
  end(): void
}

interface SpliceOptions {
  /** Checked whenever the client sends: its session ends with the call that it belongs to. */
  readonly isWelcome: () => boolean
  /** Current depth of the client's calls. The session has the depth of its start already. */
  readonly depth: () => string
}

const letter = (text: string) => text.charCodeAt(0)
const TERMINATE = letter('X')
const READY = letter('Z')
const IN_PEACE = letter('I')
/** Messages that the server answers with one report of readiness: a query, a sync, a function call. */
const ANSWERED: ReadonlySet<number> = new Set(['Q', 'S', 'F'].map(letter))

/**
 * Connects a client to the server directly until it leaves. Only the heads of messages are read. While a cancellation
 * is on its way to the server, the client's messages are held, because the cancellation could hit the next statement.
 * A changed depth is set before the client's next transaction, and the client does not see the answer to that.
 */
export function splice(client: Socket, session: LentSession, { isWelcome, depth }: SpliceOptions): Splice {
  const { promise: left, resolve } = Promise.withResolvers<Left>()
  const server = session.lend()
  const [said, heard] = [new Frames(), new Frames()]
  let unanswered = 0
  /** Messages that wait for a sync. */
  let open = false
  let status = IN_PEACE
  let depthNow = depth()
  let hidden: HiddenAnswer | null = null
  let cancelling: Promise<void> | null = null
  let finished = false

  const finish = (broken: boolean) => {
    if (finished) return
    finished = true
    client.off('data', onClient).off('close', gone).off('drain', resumeServer)
    server.off('data', onServer).off('close', lost).off('drain', resumeClient)
    resolve(leave(broken))
  }
  const leave = async (broken: boolean): Promise<Left> => {
    await cancelling
    if (broken || session.lost || unanswered !== 0 || open || hidden) return 'unfinished'
    session.takeBack()
    return status === IN_PEACE ? 'ready' : 'transaction'
  }
  const gone = () => finish(false)
  const lost = () => finish(true)
  const resumeServer = () => server.resume()
  const resumeClient = () => {
    if (cancelling === null && !server.writableNeedDrain) client.resume()
  }
  const setDepth = () => {
    const isIdle = unanswered === 0 && !open && !hidden && status === IN_PEACE && !said.isWithin && !heard.isWithin
    if (!isIdle || depth() === depthNow) return
    depthNow = depth()
    hidden = new HiddenAnswer()
    server.write(queryMessage(`set terrane.depth = '${depthNow}'`))
  }
  const onClient = (chunk: Buffer) => {
    if (!isWelcome()) return finish(true)
    setDepth()
    try {
      for (const { type, at } of said.push(chunk)) {
        if (type === TERMINATE) {
          if (at > 0) server.write(chunk.subarray(0, at))
          return finish(at < 0)
        }
        if (ANSWERED.has(type)) unanswered++
        open = !ANSWERED.has(type)
      }
    } catch {
      return finish(true)
    }
    if (!server.write(chunk)) client.pause()
  }
  const onServer = (arrived: Buffer) => {
    const chunk = hidden ? hidden.push(arrived) : arrived
    if (!chunk) return
    hidden = null
    for (const { type, first } of heard.push(chunk)) {
      if (type !== READY) continue
      unanswered--
      status = first
    }
    if (!client.write(chunk)) server.pause()
  }
  server.on('data', onServer).once('close', lost).on('drain', resumeClient)
  client.on('data', onClient).once('close', gone).on('drain', resumeServer)
  server.resume()
  client.resume()

  const pass = async () => {
    client.pause()
    await session.cancel()
    cancelling = null
    resumeClient()
  }
  const cancel = async () => {
    if (unanswered > 0 || open) await (cancelling ??= pass())
  }
  return { left, cancel, end: gone }
}
