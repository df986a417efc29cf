import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

const HEAD_BYTES = 1 << 16
const DECLARED = /^(\s*<\?xml\b[^>]*?\bencoding\s*=\s*)(?:"[^"]*"|'[^']*')/

/**
 * Converts a text from UTF-16 to UTF-8 in place: spreadsheets and some Windows programs write UTF-16, with or without a
 * byte order mark. Other files are unchanged.
 */
export async function asUtf8(path: string, signal: AbortSignal): Promise<void> {
  const encoding = await utf16Of(path)
  if (encoding === null) return
  const plain = `${path}.utf8`
  await pipeline(createReadStream(path), (bytes) => recoded(bytes, encoding), createWriteStream(plain), { signal })
  await rename(plain, path)
}

async function* recoded(bytes: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  let isFirst = true
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true })
    // The declared encoding is no longer true.
    yield isFirst ? text.replace(DECLARED, '$1"UTF-8"') : text
    isFirst = false
  }
  yield decoder.decode()
}

/** The UTF-16 variant of a file; null for others. */
async function utf16Of(path: string): Promise<string | null> {
  const head = Buffer.alloc(HEAD_BYTES)
  await using file = await open(path)
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0)
  const bytes = head.subarray(0, bytesRead - (bytesRead % 2))
  if (bytes.length < 4) return null
  const [first = 0, second = 0] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  // Without a byte order mark: texts of all supported formats begin with an ASCII character.
  if (isAscii(first) && second === 0 && isText(bytes, 'utf-16le')) return 'utf-16le'
  return first === 0 && isAscii(second) && isText(bytes, 'utf-16be') ? 'utf-16be' : null
}

function isAscii(byte: number): boolean {
  return byte === 0x09 || byte === 0x0a || byte === 0x0d || (byte >= 0x20 && byte < 0x7f)
}

/** Whether bytes have no control characters; the last character may be incomplete. */
function isText(bytes: Buffer, encoding: string): boolean {
  const text = new TextDecoder(encoding).decode(bytes, { stream: true })
  // oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
  return !/[\u0000-\u0008\u000e-\u001f\ufffd-\uffff]/.test(text)
}
