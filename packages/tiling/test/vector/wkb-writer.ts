/** GeoJSON geometry, as far as the tests make it. */
export interface Geometry {
  readonly type: string
  readonly coordinates?: unknown
  readonly geometries?: readonly Geometry[]
}

const TYPES = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon', 'GeometryCollection']

/** Writes GeoJSON geometry as little-endian WKB into a growing buffer. */
export class WkbWriter {
  bytes = new Uint8Array(1 << 16)
  at = 0
  #view = new DataView(this.bytes.buffer)

  /** Appends one geometry; nothing for null. */
  write(geometry: Geometry | null): void {
    if (!geometry) return
    const type = TYPES.indexOf(geometry.type) + 1
    this.#head(type)
    const coordinates = geometry.coordinates as never
    if (type === 1) this.#positions([coordinates])
    else if (type === 2) this.#line(coordinates)
    else if (type === 3) this.#polygon(coordinates)
    else this.#members(geometry, type)
  }

  #members(geometry: Geometry, type: number): void {
    const members =
      type === 7
        ? geometry.geometries!
        : (geometry.coordinates as unknown[]).map((coordinates) => ({ type: TYPES[type - 4]!, coordinates }))
    this.#uint32(members.length)
    for (const member of members) this.write(member)
  }

  #polygon(rings: readonly (readonly number[][])[]): void {
    this.#uint32(rings.length)
    for (const ring of rings) this.#line(ring)
  }

  #line(positions: readonly (readonly number[])[]): void {
    this.#uint32(positions.length)
    this.#positions(positions)
  }

  #positions(positions: readonly (readonly number[])[]): void {
    this.#ensure(16 * positions.length)
    for (const [lng, lat] of positions) {
      this.#view.setFloat64(this.at, lng ?? Number.NaN, true)
      this.#view.setFloat64(this.at + 8, lat ?? Number.NaN, true)
      this.at += 16
    }
  }

  #head(type: number): void {
    this.#ensure(9)
    this.bytes[this.at++] = 1
    this.#uint32(type)
  }

  #uint32(value: number): void {
    this.#ensure(4)
    this.#view.setUint32(this.at, value, true)
    this.at += 4
  }

  #ensure(more: number): void {
    if (this.at + more <= this.bytes.length) return
    const grown = new Uint8Array((this.at + more) * 2)
    grown.set(this.bytes.subarray(0, this.at))
    this.bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}
