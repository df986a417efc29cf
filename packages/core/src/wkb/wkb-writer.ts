const ISO_Z = 1000
const CODES: Readonly<Record<string, number>> = {
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
}

/** A geometry as GeoJSON (RFC 7946, section 3.1) has it; positions are `[x, y]` or `[x, y, z]`. */
export interface GeoJsonGeometry {
  readonly type: string
  readonly coordinates?: unknown
  readonly geometries?: readonly GeoJsonGeometry[]
}

/**
 * The ISO WKB (little-endian) of a GeoJSON geometry; null when it is none. Where any position has a height all do: 0
 * where it is not told.
 */
export function wkbOfGeoJson(geometry: GeoJsonGeometry): Uint8Array<ArrayBuffer> | null {
  const writer = new WkbWriter(hasHeight(geometry))
  return writer.geometry(geometry) ? writer.take() : null
}

/** The ISO type that {@link wkbOfGeoJson} gives a geometry; null when it is none. */
export function geoJsonType(geometry: GeoJsonGeometry): number | null {
  const code = CODES[geometry.type]
  return code === undefined ? null : code + (hasHeight(geometry) ? ISO_Z : 0)
}

class WkbWriter {
  readonly #hasZ: boolean
  #bytes = new Uint8Array(512)
  #view = new DataView(this.#bytes.buffer)
  #at = 0

  constructor(hasZ: boolean) {
    this.#hasZ = hasZ
  }

  take(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#at)
  }

  geometry({ type, coordinates, geometries }: GeoJsonGeometry): boolean {
    const code = CODES[type]
    if (code === undefined) return false
    this.#head(code)
    if (code === 7) {
      if (!Array.isArray(geometries)) return false
      this.#uint32(geometries.length)
      return geometries.every((part) => this.geometry(part))
    }
    if (!Array.isArray(coordinates)) return false
    if (code === 1) return this.#point(coordinates)
    if (code === 2) return this.#positions(coordinates)
    if (code === 3) return this.#rings(coordinates)
    this.#uint32(coordinates.length)
    return coordinates.every((part: unknown) => {
      this.#head(code - 3)
      if (!Array.isArray(part)) return false
      return code === 4 ? this.#position(part) : code === 5 ? this.#positions(part) : this.#rings(part)
    })
  }

  /** An empty point is written as NaN. */
  #point(position: readonly unknown[]): boolean {
    return position.length === 0 ? this.#position([Number.NaN, Number.NaN]) : this.#position(position)
  }

  #rings(rings: readonly unknown[]): boolean {
    this.#uint32(rings.length)
    return rings.every((ring) => Array.isArray(ring) && this.#positions(ring))
  }

  #positions(positions: readonly unknown[]): boolean {
    this.#uint32(positions.length)
    for (const position of positions) if (!Array.isArray(position) || !this.#position(position)) return false
    return true
  }

  #position(position: readonly unknown[]): boolean {
    const [x, y, z] = position
    if (typeof x !== 'number' || typeof y !== 'number') return false
    this.#reserve(24)
    this.#view.setFloat64(this.#at, x, true)
    this.#view.setFloat64(this.#at + 8, y, true)
    this.#at += 16
    if (!this.#hasZ) return true
    this.#view.setFloat64(this.#at, typeof z === 'number' ? z : 0, true)
    this.#at += 8
    return true
  }

  #head(code: number): void {
    this.#reserve(5)
    this.#bytes[this.#at] = 1
    this.#view.setUint32(this.#at + 1, this.#hasZ ? code + ISO_Z : code, true)
    this.#at += 5
  }

  #uint32(value: number): void {
    this.#reserve(4)
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = new Uint8Array(this.#bytes.length * 2)
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}

function hasHeight({ coordinates, geometries }: GeoJsonGeometry): boolean {
  return geometries ? Array.isArray(geometries) && geometries.some(hasHeight) : positionHasHeight(coordinates)
}

function positionHasHeight(coordinates: unknown): boolean {
  if (!Array.isArray(coordinates)) return false
  return typeof coordinates[0] === 'number'
    ? coordinates.length > 2 && typeof coordinates[2] === 'number'
    : coordinates.some(positionHasHeight)
}
