import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { encodingUnknown } from '../errors.ts'
import { chunksOf } from './chunks.ts'

const SAMPLE_BYTES = 1 << 20
/** Bytes of a character of UTF-8, at most. */
const LONGEST_CHARACTER = 4
/** Minimum confidence of the first detector; lower results are ignored. */
const LEAST_CONFIDENCE = 0.1

/** The encoding of a text, and how sure it is. */
export interface FoundEncoding {
  readonly name: string
  readonly isGuess: boolean
}

/**
 * The encoding of a text file: the requested one, or UTF-8 when all of it is valid, or a guess.
 *
 * @throws ENCODING_UNKNOWN
 */
export async function findEncoding(path: string, said: string | undefined): Promise<FoundEncoding> {
  if (said !== undefined) {
    if (!isKnown(said)) throw encodingUnknown({ encoding: said })
    // A file in UTF-16 was converted to UTF-8 when it was unpacked.
    return { name: isUtf16(said) ? 'utf-8' : said, isGuess: false }
  }
  if (isUtf8File(path)) return { name: 'utf-8', isGuess: false }
  return { name: await guess(await firstBytes(path)), isGuess: true }
}

/** Loads the detectors on demand, because they are large and most texts need no detection. */
async function guess(sample: Buffer): Promise<string> {
  const [{ analyse }, { detect }] = await Promise.all([import('chardet'), import('jschardet')])
  const { encoding, confidence } = detect(sample)
  const candidates = [
    ...(confidence >= LEAST_CONFIDENCE && encoding ? [encoding] : []),
    ...analyse(sample).map(({ name }) => name),
    'windows-1252',
  ]
  return candidates.find((name) => isKnown(name) && !/^(utf-?8|ascii)$/i.test(name)) ?? 'windows-1252'
}

function isKnown(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== ''
  } catch {
    return false
  }
}

function isUtf16(name: string): boolean {
  return new TextDecoder(name).encoding.startsWith('utf-16')
}

function isUtf8File(path: string): boolean {
  let rest: Buffer = Buffer.alloc(0)
  for (const chunk of chunksOf(path)) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    // A character at the end may continue in the next piece: its first byte is among the last bytes.
    let end = bytes.length
    while (end > 0 && bytes.length - end < LONGEST_CHARACTER && (bytes[end - 1]! & 0xc0) === 0x80) end--
    if (end > 0 && bytes[end - 1]! >= 0xc0) end--
    else end = bytes.length
    if (!isUtf8(bytes.subarray(0, end))) return false
    rest = bytes.subarray(end)
  }
  return isUtf8(rest)
}

async function firstBytes(path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(path, { end: SAMPLE_BYTES - 1 })) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
