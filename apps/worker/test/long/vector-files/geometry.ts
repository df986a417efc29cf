const FLAG_Z = 0x80000000
const FLAG_M = 0x40000000
const FLAG_SRID = 0x20000000

/** A geometry taken apart: its code, its dimensions (`xy`, `xyz`, `xym`, `xyzm`), its numbers and its parts. */
export interface Parts {
  readonly code: number
  readonly dimensions: string
  readonly numbers: readonly number[]
  readonly parts: readonly Parts[]
}

/** Reads WKB, ISO or extended; the tests' own reader, apart from the product's. */
export function readParts(bytes: Uint8Array): Parts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const next = (): Parts => {
    const little = view.getUint8(at) === 1
    const type = view.getUint32(at + 1, little)
    at += 5
    if (type & FLAG_SRID) at += 4
    const iso = type & 0xffff
    const thousands = Math.floor(iso / 1000)
    const hasZ = (type & FLAG_Z) !== 0 || thousands % 2 === 1
    const hasM = (type & FLAG_M) !== 0 || thousands >= 2
    const dimensions = `xy${hasZ ? 'z' : ''}${hasM ? 'm' : ''}`
    const code = iso % 1000
    const count = () => {
      at += 4
      return view.getUint32(at - 4, little)
    }
    const positions = (n: number) => {
      const numbers: number[] = []
      for (let i = 0; i < n * dimensions.length; i++, at += 8) numbers.push(view.getFloat64(at, little))
      return numbers
    }
    if (code === 1) return { code, dimensions, numbers: positions(1), parts: [] }
    if (code === 2 || code === 8) return { code, dimensions, numbers: positions(count()), parts: [] }
    const n = count()
    const isRings = code === 3 || code === 17
    const parts = Array.from({ length: n }, () =>
      isRings ? { code: 0, dimensions, numbers: positions(count()), parts: [] } : next(),
    )
    return { code, dimensions, numbers: [], parts }
  }
  return next()
}

/** The WKB in a GeoPackage's blob (OGC 12-128r19, 2.1.3). */
export function wkbOfBlob(blob: Uint8Array): Uint8Array {
  const envelope = [0, 32, 48, 48, 64][(blob[3]! >> 1) & 7]!
  return blob.subarray(8 + envelope)
}

/** A line or polygon, or with `points` a point, as a collection of one. */
export function promoted(parts: Parts, points: boolean): Parts {
  const isSingle = parts.code === 2 || parts.code === 3 || (points && parts.code === 1)
  if (!isSingle) return parts
  return { code: parts.code + 3, dimensions: parts.dimensions, numbers: [], parts: [parts] }
}

export function isCurved({ code, parts }: Parts): boolean {
  return (code >= 8 && code <= 14) || parts.some(isCurved)
}

export function isEmpty({ code, numbers, parts }: Parts): boolean {
  if (code === 1) return Number.isNaN(numbers[0])
  return numbers.length === 0 && parts.every(isEmpty)
}

/** The difference of two geometries in words, or null; `tolerance` is relative to the coordinate. */
export function differenceOf(ours: Parts, theirs: Parts, tolerance: number): string | null {
  if (ours.code !== theirs.code) return `code ${ours.code}, not ${theirs.code}`
  const lost = theirs.dimensions.split('').filter((d) => !ours.dimensions.includes(d))
  if (lost.length > 0) return `dimensions ${ours.dimensions}, not ${theirs.dimensions}`
  const [own, other] = [ours, theirs].map(({ parts }) => parts.filter((part) => !isEmpty(part))) as [Parts[], Parts[]]
  if (own.length !== other.length) return `${own.length} parts, not ${other.length}`
  const count = ours.numbers.length / ours.dimensions.length
  if (count !== theirs.numbers.length / theirs.dimensions.length) return `${count} positions`
  for (let i = 0; i < count; i++) {
    for (const [d, letter] of theirs.dimensions.split('').entries()) {
      const a = ours.numbers[i * ours.dimensions.length + ours.dimensions.indexOf(letter)]!
      const b = theirs.numbers[i * theirs.dimensions.length + d]!
      if (!Object.is(a, b) && a !== b && !(Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b)))) {
        return `${letter} of position ${i}: ${a}, not ${b}`
      }
    }
  }
  for (const [i, part] of own.entries()) {
    const found = differenceOf(part, other[i]!, tolerance)
    if (found !== null) return found
  }
  return null
}
