import type { StreetName } from './tags/way-names.ts'

/** Texts stored once each, as UTF-8. */
export class TextTable {
  readonly #index = new Map<string, number>()

  /** Number of a text; the same text gets the same number. */
  intern(text: string): number {
    let index = this.#index.get(text)
    if (index === undefined) this.#index.set(text, (index = this.#index.size))
    return index
  }

  pack(): { firstByte: Uint32Array; textBytes: Uint8Array } {
    const encoded = [...this.#index.keys()].map((text) => Buffer.from(text, 'utf8'))
    const firstByte = new Uint32Array(encoded.length + 1)
    encoded.forEach((bytes, i) => (firstByte[i + 1] = firstByte[i]! + bytes.length))
    return { firstByte, textBytes: Uint8Array.from(Buffer.concat(encoded)) }
  }
}

/** Lists of names stored once each. List 0 is empty. */
export class NameTable {
  readonly #texts: TextTable
  readonly #lists: number[][] = [[]]
  readonly #index = new Map<string, number>([['', 0]])
  /** Texts of a list that count as its name, as a set. */
  readonly #sets: ReadonlySet<number>[] = [new Set()]

  constructor(texts: TextTable) {
    this.#texts = texts
  }

  intern(names: readonly StreetName[]): number {
    const list = names.map(({ text, routeNumber }) => 2 * this.#texts.intern(text) + Number(routeNumber))
    const key = list.join(' ')
    let index = this.#index.get(key)
    if (index === undefined) {
      index = this.#lists.length
      this.#index.set(key, index)
      this.#lists.push(list)
      this.#sets.push(new Set(list.map((entry) => entry >>> 1)))
    }
    return index
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
