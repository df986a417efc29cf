import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** A server on loopback with the greeting of PostgreSQL 17, and with answers that the test gives. */
export interface FakeServer extends AsyncDisposable {
  readonly url: string
  /** Bytes that clients have received, including bytes in network buffers. */
  sent(): number
}

/** A message of the protocol (PostgreSQL manual, message formats). */
export function message(type: string, body: Buffer | string = '', announced = Buffer.byteLength(body) + 4): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(announced, 1)
  return Buffer.concat([head, Buffer.from(body)])
}

export const READY = message('Z', 'I')

/** One column of type text. */
export const ONE_COLUMN = message('T', Buffer.concat([int16(1), columnOf('text')]))

/** A row of one text. */
export function row(text: string): Buffer {
  return rowOf([text])
}

/**
 * Starts the server.
 *
 * @param onStatement writes the answer to every statement except a client's first ones
 * @param options whether the query for the version is answered; without an answer no database can be opened
 */
export async function startFakeServer(
  onStatement: (socket: Socket) => void,
  { answersVersion = true }: { readonly answersVersion?: boolean } = {},
): Promise<FakeServer> {
  const sockets = new Set<Socket>()
  let gone = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      gone += socket.bytesWritten
    })
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', Buffer.alloc(4)), READY]))
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1')
        if (answersVersion && text.includes('version()')) socket.write(VERSION)
        else if (text.includes('pg_stat_activity')) socket.write(Buffer.concat([message('C', 'SELECT 0\0'), READY]))
        else if (!text.startsWith('X')) onStatement(socket)
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `postgres://someone@127.0.0.1:${(server.address() as AddressInfo).port}/database`,
    sent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, gone),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const VERSION = Buffer.concat([
  message('T', Buffer.concat([int16(2), columnOf('text'), columnOf('number')])),
  rowOf(['PostgreSQL 17.0', '170000']),
  message('C', 'SELECT 1\0'),
  READY,
])

function columnOf(name: string): Buffer {
  const facts = Buffer.alloc(18)
  facts.writeUInt32BE(25, 6)
  return Buffer.concat([Buffer.from(`${name}\0`), facts])
}

function rowOf(texts: readonly string[]): Buffer {
  const values = texts.map((text) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(Buffer.byteLength(text))
    return Buffer.concat([length, Buffer.from(text)])
  })
  return message('D', Buffer.concat([int16(texts.length), ...values]))
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
