import type { Socket } from 'node:net'
import { message } from './frames.ts'

/** A client's first message: it opens a session or cancels a statement of one. */
export type Opening =
  | { readonly kind: 'session'; readonly user: string }
  | { readonly kind: 'cancel'; readonly processId: number; readonly secretKey: number }

const PROTOCOL_3 = 196_608
const CANCEL = 80_877_102
const SSL = 80_877_103
const GSS = 80_877_104
const MAX_BYTES = 10_000
const MAX_MS = 15_000

/**
 * Reads a client's start-up message and declines encryption, because the socket is local to the host.
 *
 * @throws Error for any other message than a start of PostgreSQL's protocol 3, and after a timeout
 */
export function readOpening(socket: Socket): Promise<Opening> {
  return new Promise((resolve, reject) => {
    let held = Buffer.alloc(0)
    const timer = setTimeout(() => finish(new Error('a database client did not say what it wants in time')), MAX_MS)
    const finish = (result: Opening | Error) => {
      clearTimeout(timer)
      socket.off('readable', look)
      socket.off('close', gone)
      if (result instanceof Error) reject(result)
      else resolve(result)
    }
    const gone = () => finish(new Error('a database client left before it began'))
    const look = () => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
        held = Buffer.concat([held, chunk])
      while (held.length >= 8) {
        const length = held.readInt32BE(0)
        const code = held.readInt32BE(4)
        if (length < 8 || length > MAX_BYTES) return finish(new Error('a database client speaks another protocol'))
        if (held.length < length) return
        const body = held.subarray(8, length)
        held = held.subarray(length)
        if (code === SSL || code === GSS) {
          socket.write('N')
          continue
        }
        if (held.length > 0) socket.unshift(held)
        return finish(openingOf(code, body))
      }
    }
    socket.on('readable', look)
    socket.once('close', gone)
    look()
  })
}

function openingOf(code: number, body: Buffer): Opening | Error {
  if (code === CANCEL && body.length === 8)
    return { kind: 'cancel', processId: body.readInt32BE(0), secretKey: body.readInt32BE(4) }
  if (code !== PROTOCOL_3) return new Error('a database client speaks another protocol')
  const words = body.toString('utf8').split('\0')
  const at = words.findIndex((word, i) => i % 2 === 0 && word === 'user')
  return { kind: 'session', user: at < 0 ? '' : (words[at + 1] ?? '') }
}

/** The answer to a start: signed in, the server's parameters, the key of the session, ready. */
export function welcome(
  parameters: ReadonlyMap<string, string>,
  key: { readonly processId: number; readonly secretKey: number },
): Buffer {
  const numbers = Buffer.alloc(8)
  numbers.writeInt32BE(key.processId, 0)
  numbers.writeInt32BE(key.secretKey, 4)
  const settings = [...parameters].map(([name, value]) => message('S', Buffer.from(`${name}\0${value}\0`)))
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    ...settings,
    message('K', numbers),
    message('Z', Buffer.from('I')),
  ])
}

/** A refusal that ends the session, in PostgreSQL's words. */
export function refusal(code: string, text: string, hint: string): Buffer {
  const fields = { S: 'FATAL', V: 'FATAL', C: code, M: text, H: hint }
  const body = Object.entries(fields).map(([field, value]) => `${field}${value}\0`)
  return message('E', Buffer.from(`${body.join('')}\0`))
}
