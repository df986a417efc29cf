import { osmMalformed, osmTooLarge, osmTruncated, osmUnsupported } from '../errors.ts'

/** OSM values have at most 255 characters: a tag of this length is not OSM. */
const MAX_TAG_LENGTH = 1 << 20

/** An OSM document is four tags deep. */
const MAX_DEPTH = 100

/** Receives the parts of a document in order. `attributes` is valid during the call. */
export interface XmlHandler {
  open(name: string, attributes: Attributes): void
  close(name: string): void
  text(text: string): void
}

/** The attributes of one tag. */
export class Attributes {
  readonly #names: string[] = []
  readonly #values: string[] = []
  #count = 0

  /** The value with its entities decoded, null when the tag lacks the attribute. */
  get(name: string): string | null {
    for (let i = 0; i < this.#count; i++) if (this.#names[i] === name) return decodeText(this.#values[i] ?? '')
    return null
  }

  clear(): void {
    this.#count = 0
  }

  add(name: string, value: string): void {
    this.#names[this.#count] = name
    this.#values[this.#count++] = value
  }
}

/**
 * Reads XML as OSM tools write it: UTF-8, without a document type, so with the five predefined entities and character
 * references only. Comments and processing instructions are skipped. Tags must match; namespaces are not supported.
 */
export class XmlScanner {
  readonly #handler: XmlHandler
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #open: string[] = []
  readonly #attributes = new Attributes()
  #rest = ''
  #length = 0

  constructor(handler: XmlHandler) {
    this.#handler = handler
  }

  push(bytes: Uint8Array): void {
    this.#length += bytes.length
    this.#consume(this.#rest + this.#decode(bytes, true))
    if (this.#rest.length > MAX_TAG_LENGTH) {
      throw osmTooLarge({
        what: `An XML tag near byte ${this.#length}`,
        size: this.#rest.length,
        limit: MAX_TAG_LENGTH,
      })
    }
  }

  end(): void {
    this.#consume(this.#rest + this.#decode(new Uint8Array(), false))
    if (this.#open.length > 0 || this.#rest.trim() !== '') {
      throw osmTruncated({ at: this.#length, wanted: `</${this.#open.at(-1) ?? 'osm'}>` })
    }
  }

  #decode(bytes: Uint8Array, stream: boolean): string {
    try {
      return this.#decoder.decode(bytes, { stream })
    } catch (cause) {
      throw osmMalformed({ what: 'its text is not UTF-8', at: this.#length }, { cause })
    }
  }

  #consume(text: string): void {
    let at = 0
    for (;;) {
      const start = text.indexOf('<', at)
      if (start < 0) break
      if (start > at && this.#open.length > 0) this.#handler.text(text.slice(at, start))
      const end = this.#markup(text, start)
      if (end < 0) {
        at = start
        break
      }
      at = end
    }
    this.#rest = text.slice(at)
  }

  /** Handles the markup that begins at `start`; returns its end, or -1 when the text ends before it. */
  #markup(text: string, start: number): number {
    const next = text[start + 1]
    if (next === '!') {
      if (text.startsWith('<!--', start)) return endAfter(text, '-->', start + 4)
      if (text.length - start < 9) return -1
      throw osmUnsupported({ what: 'it has a document type or CDATA' })
    }
    if (next === '?') return endAfter(text, '?>', start + 2)
    const end = tagEnd(text, start + 1)
    if (end < 0) return -1
    if (next === '/') {
      const name = text.slice(start + 2, end).trim()
      if (this.#open.pop() !== name) throw this.#malformed(`</${name}> closes nothing`)
      this.#handler.close(name)
    } else this.#tag(text, start + 1, end)
    return end + 1
  }

  #tag(text: string, start: number, end: number): void {
    const empty = text[end - 1] === '/'
    const stop = empty ? end - 1 : end
    let at = start
    while (at < stop && !isSpace(text.charCodeAt(at))) at++
    const name = text.slice(start, at)
    if (name === '') throw this.#malformed('a tag has no name')
    this.#attributes.clear()
    for (;;) {
      while (at < stop && isSpace(text.charCodeAt(at))) at++
      if (at >= stop) break
      const equals = text.indexOf('=', at)
      const quote = equals < 0 ? '' : (text[equals + 1] ?? '')
      const valueEnd = quote === '"' || quote === "'" ? text.indexOf(quote, equals + 2) : -1
      if (valueEnd < 0 || valueEnd >= stop) throw this.#malformed(`an attribute of <${name}> has no quoted value`)
      this.#attributes.add(text.slice(at, equals), text.slice(equals + 2, valueEnd))
      at = valueEnd + 1
    }
    this.#handler.open(name, this.#attributes)
    if (empty) this.#handler.close(name)
    else if (this.#open.push(name) > MAX_DEPTH) throw this.#malformed(`its tags are more than ${MAX_DEPTH} deep`)
  }

  #malformed(what: string): Error {
    return osmMalformed({ what, at: this.#length })
  }
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Decodes entities and character references; other white space becomes spaces, as the XML specification requires. */
export function decodeText(raw: string): string {
  if (!raw.includes('&') && !/[\t\n\r]/.test(raw)) return raw
  return raw.replaceAll(/[\t\n\r]/g, ' ').replaceAll(/&([^;&]{0,12};)?/g, (whole, body?: string) => {
    const name = body?.slice(0, -1) ?? ''
    const known = ENTITIES[name]
    if (known !== undefined) return known
    const digits = /^#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))$/i.exec(name)
    const point = digits ? Number.parseInt(digits[1] ?? digits[2] ?? '', digits[1] ? 16 : 10) : Number.NaN
    if (Number.isNaN(point) || point === 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
      throw osmMalformed({ what: `"${whole}" is not a known entity` })
    return String.fromCodePoint(point)
  })
}

function endAfter(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at < 0 ? -1 : at + mark.length
}

/** The position of the `>` that ends a tag; one inside a quoted value does not. */
function tagEnd(text: string, from: number): number {
  let quote = 0
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (quote !== 0) {
      if (code === quote) quote = 0
    } else if (code === 62) return i
    else if (code === 34 || code === 39) quote = code
  }
  return -1
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}
