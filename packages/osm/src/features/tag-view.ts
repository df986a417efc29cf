import type { TagColumns } from '../block.ts'
import type { StringTable } from '../string-table.ts'

/** Code of an unclassified string. Others: bit 0 for a key of candidates, then a requested key's number plus one. */
const UNKNOWN = -1

/** The tags of one element at a time; each string of a block is decoded as a key at most once. */
export class TagView {
  readonly #numbers: ReadonlyMap<string, number>
  readonly #counts: (key: string) => boolean
  #strings: StringTable | null = null
  #columns: TagColumns | null = null
  #row = 0
  /** Number of each string of the block as a key. */
  #keyOf = new Int16Array(0)
  /** JSON text of each string of the block. */
  #json: (string | undefined)[] = []
  /** Value of each numbered key, valid when its mark is the current one. */
  readonly #value: Uint32Array
  readonly #marks: Float64Array
  #mark = 0
  readonly #tests: ((key: string) => boolean)[] = []
  readonly #testNumbers = new Map<string, number>()
  /** The tests that each string of the block passes as a key. */
  #testsOf: (readonly number[] | undefined)[] = []
  /** The last element that passed each test, and the last one whose keys were tested. */
  readonly #passed: number[] = []
  #testedMark = -1
  /** The tags of an element as JSON, all of them or those with a prefix, each built once. */
  #text = ''
  #textMark = -1
  readonly #texts = new Map<string, string | null>()
  #textsMark = -1

  /**
   * @param keys the requested keys; their indices are their numbers
   * @param counts whether a key makes an element a candidate; when absent, all of `keys` do
   */
  constructor(keys: readonly string[], counts?: (key: string) => boolean) {
    this.#counts = counts ?? ((key) => this.#numbers.has(key))
    this.#numbers = new Map(keys.map((key, i) => [key, i]))
    this.#value = new Uint32Array(keys.length)
    this.#marks = new Float64Array(keys.length)
  }

  /** The number of a key. @throws RangeError for a key that is not among the numbered ones */
  numberOf(key: string): number {
    const found = this.#numbers.get(key)
    if (found === undefined) throw new RangeError(`key "${key}" is unknown`)
    return found
  }

  /** Number of loaded elements; it identifies the current one. */
  get loads(): number {
    return this.#mark
  }

  /** Begins a block. */
  start(strings: StringTable): void {
    this.#strings = strings
    this.#json = []
    this.#testsOf = []
    if (this.#keyOf.length < strings.size) this.#keyOf = new Int16Array(strings.size * 2)
    this.#keyOf.fill(UNKNOWN)
  }

  /** Takes the tags of one row; true when it has a key that counts. */
  load(columns: TagColumns, row: number): boolean {
    this.#columns = columns
    this.#row = row
    const mark = ++this.#mark
    const { tags, tagOffsets } = columns
    const end = tagOffsets[row + 1]!
    let any = false
    for (let t = tagOffsets[row]!; t < end; t++) {
      const string = tags[t * 2]!
      let code = this.#keyOf[string]!
      if (code === UNKNOWN) code = this.#keyOf[string] = this.#classify(this.#strings!.get(string))
      if (code & 1) any = true
      if (code < 2) continue
      const key = (code >> 1) - 1
      this.#marks[key] = mark
      this.#value[key] = tags[t * 2 + 1]!
    }
    return any
  }

  /** The value of a numbered key, null when the element lacks it. */
  get(key: number): string | null {
    return this.#marks[key] === this.#mark ? this.#strings!.get(this.#value[key]!) : null
  }

  /** The number of a test of keys; tests with the same name are the same. */
  keyTest(name: string, test: (key: string) => boolean): number {
    let number = this.#testNumbers.get(name)
    if (number === undefined) {
      number = this.#tests.push(test) - 1
      this.#testNumbers.set(name, number)
      this.#passed.push(-1)
    }
    return number
  }

  /** True when some key of the element passes the test. */
  passes(test: number): boolean {
    if (this.#testedMark !== this.#mark) this.#testKeys()
    return this.#passed[test] === this.#mark
  }

  /** All tags as JSON text, without the NUL characters that jsonb cannot hold. */
  toJson(): string {
    if (this.#textMark !== this.#mark) {
      this.#text = this.#tagsJson()
      this.#textMark = this.#mark
    }
    return this.#text
  }

  /** The tags whose keys begin with this prefix, as JSON text without the prefix; null when there are none. */
  prefixJson(prefix: string): string | null {
    if (this.#textsMark !== this.#mark) {
      this.#texts.clear()
      this.#textsMark = this.#mark
    }
    let text = this.#texts.get(prefix)
    if (text === undefined) this.#texts.set(prefix, (text = this.#prefixJson(prefix)))
    return text
  }

  /** All tags, in the order of the file. */
  *entries(): Generator<[key: string, value: string]> {
    const { tags, tagOffsets } = this.#columns!
    for (let t = tagOffsets[this.#row]!; t < tagOffsets[this.#row + 1]!; t++) {
      yield [this.#strings!.get(tags[t * 2]!), this.#strings!.get(tags[t * 2 + 1]!)]
    }
  }

  #testKeys(): void {
    this.#testedMark = this.#mark
    const { tags, tagOffsets } = this.#columns!
    const end = tagOffsets[this.#row + 1]!
    for (let t = tagOffsets[this.#row]!; t < end; t++) {
      const string = tags[t * 2]!
      const tests = (this.#testsOf[string] ??= this.#testsPassedBy(string))
      for (let i = 0; i < tests.length; i++) this.#passed[tests[i]!] = this.#mark
    }
  }

  #testsPassedBy(string: number): readonly number[] {
    const key = this.#strings!.get(string)
    return this.#tests.flatMap((test, number) => (test(key) ? [number] : []))
  }

  #tagsJson(): string {
    const { tags, tagOffsets } = this.#columns!
    const end = tagOffsets[this.#row + 1]!
    let text = '{'
    for (let t = tagOffsets[this.#row]!; t < end; t++) {
      if (text.length > 1) text += ','
      text += this.#jsonOf(tags[t * 2]!) + ':' + this.#jsonOf(tags[t * 2 + 1]!)
    }
    return text + '}'
  }

  #prefixJson(prefix: string): string | null {
    const found = [...this.entries()].filter(([key]) => key.length > prefix.length && key.startsWith(prefix))
    if (found.length === 0) return null
    return JSON.stringify(
      Object.fromEntries(found.map(([key, value]) => [withoutNul(key.slice(prefix.length)), withoutNul(value)])),
    )
  }

  #classify(key: string): number {
    const number = this.#numbers.get(key) ?? -1
    return (number + 1) * 2 + (this.#counts(key) ? 1 : 0)
  }

  #jsonOf(string: number): string {
    const known = this.#json[string]
    if (known !== undefined) return known
    const text = JSON.stringify(withoutNul(this.#strings!.get(string)))
    this.#json[string] = text
    return text
  }
}

function withoutNul(text: string): string {
  return text.replaceAll('\0', '')
}
