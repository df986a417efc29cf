const HEADER = 5

/** A message of PostgreSQL's protocol: its type, its length, its body. */
export function message(type: string, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(HEADER)
  header.write(type)
  header.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([header, body])
}

/** Type and end of the last complete message in some bytes; null without one. */
export function lastMessage(bytes: Buffer): { readonly type: string; readonly end: number } | null {
  let last: { type: string; end: number } | null = null
  for (let at = 0; at + HEADER <= bytes.length; at = last.end) {
    const end = at + 1 + bytes.readInt32BE(at + 1)
    if (end > bytes.length) break
    last = { type: String.fromCharCode(bytes[at]!), end }
  }
  return last
}
