import { connect } from 'node:net'
import type { PoolClient } from 'pg'

/** Of a packet that asks for a cancellation (PostgreSQL manual, message formats). */
const CANCEL_REQUEST = 80877102

/** What the driver knows of its connection, which its types do not tell. */
interface Connected {
  readonly host: string
  readonly port: number
  readonly processID: number | null
  readonly secretKey: number | null
}

/**
 * Asks the server to cancel the statement that a connection runs. It takes a connection of its own, not one of the pool:
 * those may all be busy. Whether it came in time nobody says.
 */
export function cancelStatement(client: PoolClient): void {
  const { host, port, processID, secretKey } = client as unknown as Connected
  if (processID === null || secretKey === null) return
  const packet = Buffer.alloc(16)
  packet.writeInt32BE(packet.length)
  packet.writeInt32BE(CANCEL_REQUEST, 4)
  packet.writeInt32BE(processID, 8)
  packet.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.on('error', () => socket.destroy())
  socket.end(packet)
}
