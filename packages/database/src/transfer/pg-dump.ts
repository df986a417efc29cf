import type { Duplex } from 'node:stream'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { LentSession } from '../lent-session.ts'
import { lastMessage, message } from './messages.ts'

/** Start parameters of the pg_dump thread. */
export interface DumpSettings {
  readonly args: readonly string[]
  /** The server's greeting to a client that is already authenticated. */
  readonly greeting: Uint8Array
  /** Number of answers so far, for which the thread waits. */
  readonly answers: Int32Array<SharedArrayBuffer>
}

/**
 * The SQL of a database without its rows, as pg_dump 18 writes it, read through the connection of a session within its
 * open transaction, which stays open. pg_dump is WebAssembly, so it need not be installed; it reads servers of versions
 * up to 18.
 *
 * @param args of pg_dump
 */
export async function dumpSchema(session: LentSession, args: readonly string[]): Promise<string> {
  const { port1, port2 } = new MessageChannel()
  const answers = new Int32Array(new SharedArrayBuffer(4))
  const workerData: DumpSettings & { port: typeof port2 } = {
    args,
    greeting: greetingOf(session.parameters),
    answers,
    port: port2,
  }
  const stream = session.lend()
  const worker = new Worker(new URL('./pg-dump.worker.ts', import.meta.url), { workerData, transferList: [port2] })
  try {
    return await new Promise<string>((resolve, reject) => {
      const answer = async (question: Uint8Array) => {
        port1.postMessage(await answerOf(stream, question))
        Atomics.add(answers, 0, 1)
        Atomics.notify(answers, 0)
      }
      port1.on('message', (question: Uint8Array) => void answer(question).catch(reject))
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('pg_dump ended before its output')))
    })
  } finally {
    port1.close()
    await worker.terminate()
    session.takeBack()
  }
}

/** AuthenticationOk, ParameterStatus of each parameter, BackendKeyData and ReadyForQuery. */
function greetingOf(parameters: ReadonlyMap<string, string>): Uint8Array {
  const statuses = [...parameters].map(([name, value]) => message('S', Buffer.from(`${name}\0${value}\0`)))
  const [authenticated, key, ready] = [
    message('R', Buffer.alloc(4)),
    message('K', Buffer.alloc(8)),
    message('Z', Buffer.from('I')),
  ]
  return Uint8Array.from(Buffer.concat([authenticated, ...statuses, key, ready]))
}

/** Sends messages and resolves to everything up to ReadyForQuery. */
function answerOf(stream: Duplex, question: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const settle = () => {
      stream.off('data', onData)
      stream.off('close', onClose)
    }
    const onData = (chunk: Buffer) => {
      chunks.push(chunk)
      // ReadyForQuery has six bytes.
      if (chunk.length < 6 && chunks.length === 1) return
      const answer = Buffer.concat(chunks)
      const last = lastMessage(answer)
      if (last?.type !== 'Z' || last.end < answer.length) return
      settle()
      resolve(Uint8Array.from(answer))
    }
    const onClose = () => {
      settle()
      reject(new Error('Connection terminated while pg_dump ran'))
    }
    stream.on('data', onData)
    stream.on('close', onClose)
    stream.resume()
    stream.write(question)
  })
}
