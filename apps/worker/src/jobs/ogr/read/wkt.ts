import type { GeoJsonGeometry } from '@terrane/core'

const NAMES: Readonly<Record<string, string>> = {
  POINT: 'Point',
  LINESTRING: 'LineString',
  LINEARRING: 'LineString',
  POLYGON: 'Polygon',
  MULTIPOINT: 'MultiPoint',
  MULTILINESTRING: 'MultiLineString',
  MULTIPOLYGON: 'MultiPolygon',
  GEOMETRYCOLLECTION: 'GeometryCollection',
}
const HEAD = /\s*([A-Z]+)(?:\s+(ZM|Z|M))?\s*(EMPTY\b|\()/iy
const NUMBER = /\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)/iy

/** A geometry in well-known text (OGC 06-103r4 section 7), measures left out; null when it is none that is known. */
export function readWkt(text: string): GeoJsonGeometry | null {
  const reader = new WktReader(text.replace(/^\s*SRID=\d+;/i, ''))
  try {
    return reader.whole()
  } catch {
    return null
  }
}

class WktReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): GeoJsonGeometry {
    const geometry = this.#geometry()
    if (this.#text.slice(this.#at).trim() !== '') throw new SyntaxError('text follows')
    return geometry
  }

  #geometry(): GeoJsonGeometry {
    const [, name = '', dimensions = '', open = ''] = this.#match(HEAD)
    // Some writers put the letter of the heights behind the name, without a blank.
    const type = NAMES[name.toUpperCase()] ?? NAMES[name.toUpperCase().slice(0, -1)]
    if (type === undefined) throw new SyntaxError(`unknown type ${name}`)
    if (/m/i.test(dimensions) || (NAMES[name.toUpperCase()] === undefined && /m$/i.test(name)))
      throw new SyntaxError('measures')
    const isEmpty = open !== '('
    if (type === 'GeometryCollection') return { type, geometries: isEmpty ? [] : this.#list(() => this.#geometry()) }
    if (isEmpty) return { type, coordinates: [] }
    const positions = () => this.#list(() => this.#position())
    const nested = (item: () => unknown) => this.#list(() => this.#opened(item))
    switch (type) {
      case 'Point':
        return { type, coordinates: positions()[0] }
      case 'LineString':
        return { type, coordinates: positions() }
      case 'MultiPoint':
        return { type, coordinates: this.#list(() => (this.#takes('(') ? positions()[0] : this.#position())) }
      case 'Polygon':
      case 'MultiLineString':
        return { type, coordinates: nested(positions) }
      default:
        return { type, coordinates: nested(() => nested(positions)) }
    }
  }

  #opened(item: () => unknown): unknown {
    if (!this.#takes('(')) {
      if (/^\s*EMPTY/i.test(this.#text.slice(this.#at, this.#at + 20))) {
        this.#at = this.#text.toUpperCase().indexOf('EMPTY', this.#at) + 5
        return []
      }
      throw new SyntaxError('a bracket is missing')
    }
    return item()
  }

  /** Items up to the closing bracket; the opening one has been taken. */
  #list<T>(item: () => T): T[] {
    const items = [item()]
    while (this.#takes(',')) items.push(item())
    if (!this.#takes(')')) throw new SyntaxError('a bracket is missing')
    return items
  }

  #position(): number[] {
    const numbers: number[] = []
    for (;;) {
      NUMBER.lastIndex = this.#at
      const found = NUMBER.exec(this.#text)
      if (!found) break
      this.#at = NUMBER.lastIndex
      numbers.push(Number(found[1]))
    }
    if (numbers.length < 2 || numbers.length > 3) throw new SyntaxError('a position has two or three numbers')
    return numbers
  }

  #takes(sign: string): boolean {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++
    if (this.#text[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (!found) throw new SyntaxError('no geometry')
    this.#at = pattern.lastIndex
    return found
  }
}
