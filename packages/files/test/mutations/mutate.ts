import { zip } from '@terrane/testing/files'

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string
  readonly data: Buffer
}

type Random = () => number

const EXTREMES = [0x00, 0xff, 0x7f, 0x80, 0x01, 0x20, 0x30, 0x22, 0x3c, 0x7b]
const LONGEST_SPAN = 64
const NUMBER = /-?\d+(?:\.\d+)?/g
const NUMBERS = [
  '1e400',
  '-1',
  '4294967296',
  '9007199254740993',
  '0',
  'NaN',
  '2147483648',
  '1e-320',
  '99999999999999999999',
]

/** A small change of a file, or a few: of bits, values, spans, or numbers in its text. */
export function mutated(original: Buffer | readonly ZipEntry[], random: Random): Buffer {
  if (Buffer.isBuffer(original)) return mutatedBytes(original, random)
  // Now and then the archive itself, otherwise one of its files.
  const chosen = Math.floor(random() * (original.length + 1))
  if (chosen === original.length) return mutatedBytes(zip(original), random)
  return zip(original.map(({ name, data }, i) => ({ name, data: i === chosen ? mutatedBytes(data, random) : data })))
}

function mutatedBytes(original: Buffer, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(original)
  do bytes = changed(bytes, random)
  while (random() < 0.25)
  return bytes
}

function changed(bytes: Buffer, random: Random): Buffer {
  const at = Math.floor(random() * bytes.length)
  const span = Math.min(bytes.length - at, 1 + Math.floor(random() * LONGEST_SPAN))
  const [before, part, after] = [bytes.subarray(0, at), bytes.subarray(at, at + span), bytes.subarray(at + span)]
  switch (Math.floor(random() * 8)) {
    case 0:
      bytes[at]! ^= 1 << Math.floor(random() * 8)
      return bytes
    case 1:
      return Buffer.from(bytes.fill(EXTREMES[Math.floor(random() * EXTREMES.length)]!, at, at + Math.min(span, 8)))
    case 2:
      return random() < 0.2 ? before : Buffer.concat([before, after])
    case 3:
      return Buffer.concat([before, Buffer.from(part.toReversed()), after])
    case 4:
      return Buffer.concat([before, ...Array.from({ length: 1 + Math.floor(random() * 5) }, () => part), after])
    case 5: {
      const other = Math.floor(random() * (bytes.length - span + 1))
      part.copy(bytes, other)
      return bytes
    }
    case 6:
      if (bytes.length >= 4) bytes.writeUInt32LE(Math.floor(random() * 2 ** 32), Math.min(at, bytes.length - 4))
      return bytes
    default:
      return withNumber(bytes, random)
  }
}

/** A file of text with one of its numbers replaced; Latin-1 keeps all bytes of others. */
function withNumber(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1')
  const found = [...text.matchAll(NUMBER)]
  const one = found[Math.floor(random() * found.length)]
  if (!one) return bytes
  const number = NUMBERS[Math.floor(random() * NUMBERS.length)]!
  return Buffer.from(text.slice(0, one.index) + number + text.slice(one.index + one[0].length), 'latin1')
}
