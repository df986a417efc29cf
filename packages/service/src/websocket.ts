import { randomUUID } from 'node:crypto'
import { ServerResponse, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { lingerOn } from './edge/unread-bodies.ts'
import { handshakeInvalid } from './errors.ts'
import { statusOf, toProblem } from './problem.ts'

/** A request to upgrade to a WebSocket, with the caller's connection. */
export interface Upgrade {
  readonly socket: Socket
  /** Bytes that came with the request. */
  readonly head: Buffer
}

/** A property of Node's server since 24.9 that its types omit. */
type UpgradingServer = Server & { shouldUpgradeCallback: (request: IncomingMessage) => boolean }

const KEY = /^[A-Za-z0-9+/]{22}==$/

/** Handles WebSockets below a path ending in `/`; 400 for invalid handshakes, other upgrades are plain requests. */
export function onWebSocket(
  server: Server,
  prefix: string,
  handle: (request: IncomingMessage, response: ServerResponse, upgrade: Upgrade) => void,
): void {
  ;(server as UpgradingServer).shouldUpgradeCallback = (request) =>
    request.url!.startsWith(prefix) && wantsWebSocket(request)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const response = responseOn(request, socket)
    const reason = faultOf(request)
    if (reason === null) handle(request, response, { socket, head })
    else refuse(response, reason)
  })
}

function wantsWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Violation of RFC 6455 (section 4.2.1) in a handshake. */
function faultOf({ headers }: IncomingMessage): string | null {
  if (headers['sec-websocket-version'] !== '13') return 'Sec-WebSocket-Version is not 13'
  const key = headers['sec-websocket-key'] ?? ''
  if (!KEY.test(key) || Buffer.from(key, 'base64').toString('base64') !== key)
    return 'Sec-WebSocket-Key is not 16 bytes in base64'
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  return hasBody ? 'it has a body' : null
}

function refuse(response: ServerResponse, reason: string): void {
  const error = handshakeInvalid({ reason })
  response.writeHead(statusOf(error.kind), {
    'content-type': 'application/problem+json',
    'sec-websocket-version': '13',
  })
  response.end(JSON.stringify(toProblem(error, randomUUID())))
}

/** The answer that turns the caller's connection into a WebSocket. @param headers alternating names and values */
export function switchingHead(headers: readonly string[]): string {
  let text = 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n'
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]!}: ${headers[i + 1]!}\r\n`
  return `${text}\r\n`
}

/** A response for a request whose connection Node's server has handed over; it is the last on that connection. */
function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  socket.on('error', () => {})
  socket.on('drain', () => response.emit('drain'))
  response.once('finish', () => lingerOn(socket))
  return response
}
