/** One message of a unit: its type, and where its body begins and ends. */
export interface Message {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** The messages of a client, or of an answer, in order; an incomplete one at the end is left out. */
export function* messagesOf(bytes: Buffer): Generator<Message> {
  for (let at = 0; at + 5 <= bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1)
    if (end > bytes.length) return
    yield { type: String.fromCharCode(bytes[at] as number), start: at + 5, end }
    at = end
  }
}

/** A text that ends with NUL, and the offset after the NUL. */
export function cString(bytes: Buffer, start: number): { text: string; next: number } {
  const end = bytes.indexOf(0, start)
  const stop = end < 0 ? bytes.length : end
  return { text: bytes.toString('utf8', start, stop), next: stop + 1 }
}

/** A simple query. */
export function simpleQuery(sql: string): Buffer {
  return message('Q', Buffer.from(`${sql}\0`))
}

export const SYNC = Buffer.from([0x53, 0, 0, 0, 4])

/** ErrorResponse. */
export function errorResponse(severity: 'ERROR' | 'FATAL', code: string, text: string): Buffer {
  return message('E', Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${text}\0\0`))
}

/** ReadyForQuery outside a transaction. */
export const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/** ReadyForQuery in a transaction that has failed. */
export const READY_FAILED = Buffer.from([0x5a, 0, 0, 0, 5, 0x45])

/** The fields of an ErrorResponse or NoticeResponse, by their letter. */
export function fieldsOf(response: Buffer): Map<string, string> {
  const fields = new Map<string, string>()
  for (let at = 5; at < response.length && response[at] !== 0;) {
    const { text, next } = cString(response, at + 1)
    fields.set(String.fromCharCode(response[at] as number), text)
    at = next
  }
  return fields
}

/** BackendKeyData: the key of a cancel request. */
export function keyData(processId: number, secret: number): Buffer {
  const body = Buffer.alloc(8)
  body.writeInt32BE(processId)
  body.writeInt32BE(secret, 4)
  return message('K', body)
}

export function copyFail(reason: string): Buffer {
  return message('f', Buffer.from(`${reason}\0`))
}

/** A message without a body. */
export function bare(type: string): Buffer {
  return message(type, Buffer.alloc(0))
}

/** The rows of the answer to a simple query, as texts. */
export function rowsOf(answer: Buffer): (string | null)[][] {
  return [...messagesOf(answer)]
    .filter(({ type }) => type === 'D')
    .map(({ start }) => {
      let at = start + 2
      return Array.from({ length: answer.readInt16BE(start) }, () => {
        const length = answer.readInt32BE(at)
        at += 4
        if (length < 0) return null
        at += length
        return answer.toString('utf8', at - length, at)
      })
    })
}

/** A message of a type. */
export function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
