import type { EmbeddingRow } from '@terrane/database/geoembeddings'
import type { Polygon } from '@terrane/embeddings'

/** A row whose geometry is one or more polygons; the table keeps their outer rings. */
export function placedRow({
  parts,
  ...row
}: Omit<EmbeddingRow, 'polygons'> & { readonly parts: readonly Polygon[] }): EmbeddingRow {
  return { ...row, polygons: parts.map((rings) => flat(rings[0]!)) }
}

const EMPTY = [Infinity, Infinity, -Infinity, -Infinity] as const

/** Bounding box as west, south, east, north; each row extends it. */
export class Extent {
  #west: number
  #south: number
  #east: number
  #north: number

  constructor([west, south, east, north]: Extent['bbox'] = EMPTY) {
    this.#west = west
    this.#south = south
    this.#east = east
    this.#north = north
  }

  add({ polygons }: EmbeddingRow): void {
    for (const ring of polygons) {
      for (let i = 0; i < ring.length; i += 2) {
        const lng = ring[i]!
        const lat = ring[i + 1]!
        if (lng < this.#west) this.#west = lng
        if (lng > this.#east) this.#east = lng
        if (lat < this.#south) this.#south = lat
        if (lat > this.#north) this.#north = lat
      }
    }
  }

  get bbox(): readonly [number, number, number, number] {
    return [this.#west, this.#south, this.#east, this.#north]
  }
}

function flat(ring: readonly (readonly [number, number])[]): Float64Array {
  const coordinates = new Float64Array(ring.length * 2)
  ring.forEach(([lng, lat], i) => {
    coordinates[i * 2] = lng
    coordinates[i * 2 + 1] = lat
  })
  return coordinates
}
