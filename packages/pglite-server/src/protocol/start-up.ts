import { cString, errorResponse, message, messagesOf, READY } from './messages.ts'

/** Start-up packet of a connection. */
export interface StartUp {
  readonly parameters: ReadonlyMap<string, string>
  /** The client asks for a minor version above 3.0. */
  readonly isNewer: boolean
  readonly extensions: readonly string[]
}

const PARAMETER_STATUS = 'S'

/** Reads a start-up packet; null when it speaks another version than 3. */
export function readStartUp(packet: Buffer): StartUp | null {
  if (packet.readInt16BE(4) !== 3) return null
  const parameters = new Map<string, string>()
  for (let at = 8; at < packet.length && packet[at] !== 0;) {
    const name = cString(packet, at)
    const value = cString(packet, name.next)
    parameters.set(name.text, value.text)
    at = value.next
  }
  const extensions = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'))
  for (const name of extensions) parameters.delete(name)
  return { parameters, isNewer: packet.readInt16BE(6) > 0, extensions }
}

/** The start-up packet of the server's own session. */
export function ownStartUp(): Buffer {
  const body = Buffer.from('user\0postgres\0database\0postgres\0client_encoding\0UTF8\0\0')
  const head = Buffer.alloc(8)
  head.writeInt32BE(body.length + 8)
  head.writeInt16BE(3, 4)
  return Buffer.concat([head, body])
}

/** ParameterStatus messages of an answer. */
export function statusesIn(answer: Buffer): Buffer {
  const statuses = [...messagesOf(answer)].filter(({ type }) => type === PARAMETER_STATUS)
  return Buffer.concat(statuses.map(({ start, end }) => answer.subarray(start - 5, end)))
}

/** The answer to a start-up packet, up to ReadyForQuery. */
export function greeting({ parameters, isNewer, extensions }: StartUp, statuses: Buffer, keyData: Buffer): Buffer {
  const name = parameters.get('application_name')
  return Buffer.concat([
    ...(isNewer || extensions.length > 0 ? [negotiated(extensions)] : []),
    AUTHENTICATION_OK,
    statuses,
    ...(name === undefined ? [] : [message(PARAMETER_STATUS, Buffer.from(`application_name\0${name}\0`))]),
    keyData,
    READY,
  ])
}

/** NegotiateProtocolVersion: only 3.0 without extensions is supported. */
function negotiated(extensions: readonly string[]): Buffer {
  const counts = Buffer.alloc(8)
  counts.writeInt32BE(extensions.length, 4)
  return message('v', Buffer.concat([counts, ...extensions.map((name) => Buffer.from(`${name}\0`))]))
}

const AUTHENTICATION_OK = message('R', Buffer.alloc(4))
export const OTHER_VERSION = errorResponse('FATAL', '0A000', 'unsupported frontend protocol: the server supports 3.0')
