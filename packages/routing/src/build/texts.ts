import type { StreetName } from './tags/way-names.ts'

/** Maximum number of entries of a `Map`, less one (V8). */
const MAP_ENTRIES = 2 ** 24 - 1

/** Numbers of texts in the order of their first use, in as many maps as needed. */
class TextNumbers {
  readonly #maps = [new Map<string, number>()]
  readonly #most: number
  size = 0

  constructor(most = MAP_ENTRIES) {
    this.#most = most
  }

  get(text: string): number | undefined {
    for (const map of this.#maps) {
      const number = map.get(text)
      if (number !== undefined) return number
    }
    return undefined
  }

  add(text: string): number {
    if (this.#maps.at(-1)!.size === this.#most) this.#maps.push(new Map())
    this.#maps.at(-1)!.set(text, this.size)
    return this.size++
  }

  *texts(): Generator<string> {
    for (const map of this.#maps) yield* map.keys()
  }
}

/** Texts stored once each, as UTF-8. */
export class TextTable {
  readonly #numbers: TextNumbers

  /** @param most maximum number of entries of a map; tests use a small one */
  constructor(most?: number) {
    this.#numbers = new TextNumbers(most)
  }

  /** Number of a text; the same text gets the same number. */
  intern(text: string): number {
    return this.#numbers.get(text) ?? this.#numbers.add(text)
  }

  pack(): { firstByte: Uint32Array; textBytes: Uint8Array } {
    const firstByte = new Uint32Array(this.#numbers.size + 1)
    let bytes = 0
    let number = 0
    for (const text of this.#numbers.texts()) firstByte[++number] = bytes += Buffer.byteLength(text)
    const textBytes = Buffer.alloc(bytes)
    number = 0
    for (const text of this.#numbers.texts()) textBytes.write(text, firstByte[number++]!)
    return { firstByte, textBytes: new Uint8Array(textBytes.buffer, textBytes.byteOffset, bytes) }
  }
}

/** Lists of names stored once each. List 0 is empty. */
export class NameTable {
  readonly #texts: TextTable
  readonly #lists: number[][] = [[]]
  readonly #numbers = new TextNumbers()
  /** Texts of a list that count for comparing names, as a set. */
  readonly #sets: ReadonlySet<number>[] = [new Set()]

  constructor(texts: TextTable) {
    this.#texts = texts
    this.#numbers.add('')
  }

  intern(names: readonly StreetName[]): number {
    const list = names.map(({ text, routeNumber }) => 2 * this.#texts.intern(text) + Number(routeNumber))
    const key = list.join(' ')
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#lists.push(list)
    this.#sets.push(new Set(list.map((entry) => entry >>> 1)))
    return this.#numbers.add(key)
  }

  /** Whether two lists have a name in common, or are both empty. */
  overlap(a: number, b: number): boolean {
    if (a === b) return true
    const other = this.#sets[b]!
    for (const text of this.#sets[a]!) if (other.has(text)) return true
    return false
  }

  pack(): { firstName: Uint32Array; nameText: Uint32Array } {
    const firstName = new Uint32Array(this.#lists.length + 1)
    this.#lists.forEach((list, i) => (firstName[i + 1] = firstName[i]! + list.length))
    return { firstName, nameText: Uint32Array.from(this.#lists.flat()) }
  }
}
