import { seededRandom } from '@terrane/core'

/** The parts of all rows that the areas keep. */
export const SHARES = [0.001, 0.01, 0.1, 0.3, 0.8] as const
/** Labels and the parts of all rows that bear them. */
export const LABELS = [
  { name: 'thousandth', keeps: 0.001 },
  { name: 'hundredth', keeps: 0.01 },
  { name: 'tenth', keeps: 0.1 },
  { name: 'third', keeps: 0.3 },
  { name: 'rest', keeps: 0.589 },
] as const

/** Days that sources are of, one a month: each has as many rows, scattered over the grid. */
export const DATES = Array.from({ length: 12 }, (_, month) => `2024-${String(month + 1).padStart(2, '0')}-15`)
/** Months that filters in time keep, from the first one. */
export const MONTHS = [1, 3, 6] as const

/** Dimensions that carry the clusters and places. */
const LATENT = 32
const CLUSTERS = 600
const SIZE = 0.001
const ROWS_PER_BATCH = 500

/** Columns and rows of the grid, both ends in. */
export type Area = readonly [x0: number, y0: number, x1: number, y1: number]

export interface Query {
  readonly vector: Float32Array
  /** One per share of {@link SHARES}. */
  readonly areas: readonly Area[]
}

/** Rows of a made-up table of tiles: a grid whose vectors go with their place. */
export class Tiles {
  readonly rows: number
  readonly dims: number
  readonly columns: number
  readonly #directions: Float32Array
  readonly #shared: Float32Array
  readonly #clusters: readonly { readonly x: number; readonly y: number; readonly latent: Float32Array }[]

  constructor(rows: number, dims: number) {
    const draw = gaussians(1)
    this.rows = rows
    this.dims = dims
    this.columns = Math.ceil(Math.sqrt(rows))
    this.#directions = Float32Array.from({ length: LATENT * dims }, draw)
    this.#shared = Float32Array.from({ length: dims }, () => 4 + 3 * draw())
    const random = seededRandom(2)
    this.#clusters = Array.from({ length: CLUSTERS }, () => ({
      x: random() * this.columns,
      y: random() * this.columns,
      latent: spectrum(draw, 1),
    }))
  }

  /** Footprint of a tile. */
  ring(id: number): Float64Array {
    const west = 5 + (id % this.columns) * SIZE
    const north = 50 - Math.floor(id / this.columns) * SIZE
    return Float64Array.of(west, north, west, north - SIZE, west + SIZE, north - SIZE, west + SIZE, north)
  }

  labelOf(id: number): number {
    const part = scatter(id)
    let upTo = 0
    for (let i = 0; i < LABELS.length - 1; i++) {
      upTo += LABELS[i]!.keeps
      if (part < upTo) return i
    }
    return LABELS.length - 1
  }

  /** The source of a tile. */
  sourceOf(id: number): number {
    return Math.floor(scatter(id + 1) * DATES.length)
  }

  /** The same as {@link labelOf} in SQL. */
  labelSql(): string {
    const part = '(((id & 4294967295) * 2654435761) % 4294967296)::float8 / 4294967296'
    let upTo = 0
    const cases = LABELS.slice(0, -1).map(({ name, keeps }) => `when ${part} < ${(upTo += keeps)} then '${name}'`)
    return `case ${cases.join(' ')} else '${LABELS.at(-1)!.name}' end`
  }

  /** A vector at a place: one of the clusters around it, and what is its own. */
  vectorAt(x: number, y: number, random: () => number, draw: () => number): Float32Array {
    // The nearest of some clusters drawn at random: mostly of the neighbourhood, now and then from anywhere.
    let cluster = this.#clusters[Math.floor(random() * CLUSTERS)]!
    for (let i = 0; i < 80; i++) {
      const other = this.#clusters[Math.floor(random() * CLUSTERS)]!
      if ((other.x - x) ** 2 + (other.y - y) ** 2 < (cluster.x - x) ** 2 + (cluster.y - y) ** 2) cluster = other
    }
    const own = spectrum(draw, 0.5)
    const vector = this.#shared.slice()
    for (let k = 0; k < LATENT; k++) {
      const weight = cluster.latent[k]! + own[k]!
      const start = k * this.dims
      for (let d = 0; d < this.dims; d++) vector[d]! += weight * this.#directions[start + d]!
    }
    let energy = 0
    for (let d = 0; d < this.dims; d++) {
      vector[d]! += 0.6 * draw()
      energy += vector[d]! ** 2
    }
    const scale = 1 / Math.sqrt(energy)
    return vector.map((v) => v * scale)
  }

  /** All rows in batches; `onRow` hears of each. */
  async *batches(onRow: (id: number, vector: Float32Array) => void) {
    const random = seededRandom(3)
    const draw = gaussians(4)
    for (let from = 0; from < this.rows; from += ROWS_PER_BATCH) {
      yield Array.from({ length: Math.min(ROWS_PER_BATCH, this.rows - from) }, (_, i) => {
        const tile = from + i
        const embedding = this.vectorAt(tile % this.columns, Math.floor(tile / this.columns), random, draw)
        onRow(tile, embedding)
        const id = this.sourceOf(tile) * 2 ** 32 + tile
        return { id, polygons: [this.ring(tile)], embedding, attributes: [tile, 0, 0, 0, 1] }
      })
    }
  }
}

/** Queries at places of their own, with areas that need not be near them. */
export function makeQueries(tiles: Tiles, count: number): Query[] {
  const random = seededRandom(5)
  const draw = gaussians(6)
  const { columns } = tiles
  return Array.from({ length: count }, () => ({
    vector: tiles.vectorAt(random() * columns, random() * columns, random, draw),
    areas: SHARES.map((share): Area => {
      const side = Math.max(1, Math.round(columns * Math.sqrt(share)))
      const x = Math.floor(random() * (columns - side))
      const y = Math.floor(random() * (columns - side))
      return [x, y, x + side - 1, y + side - 1]
    }),
  }))
}

/** An area that meets the tiles of a part of the grid, and no other: its edges lie within them. */
export function areaSql([x0, y0, x1, y1]: Area): string {
  const edges = [5 + (x0 + 0.25) * SIZE, 50 - (y1 + 0.75) * SIZE, 5 + (x1 + 0.75) * SIZE, 50 - (y0 + 0.25) * SIZE]
  return `st_makeenvelope(${edges.join()}, 4326)`
}

/** The nearest rows of each query under each filter, by brute force over rows that come one by one. */
export class Neighbours {
  readonly #tiles: Tiles
  readonly #queries: readonly Query[]
  readonly #wanted: number
  /** By query and filter: none, the areas, the labels, the months. */
  readonly #found: { id: number; similarity: number }[][][]

  constructor(tiles: Tiles, queries: readonly Query[], wanted: number) {
    this.#tiles = tiles
    this.#queries = queries
    this.#wanted = wanted
    this.#found = queries.map(() => Array.from({ length: 1 + SHARES.length + LABELS.length + MONTHS.length }, () => []))
  }

  add(id: number, vector: Float32Array): void {
    const label = this.#tiles.labelOf(id)
    const month = this.#tiles.sourceOf(id)
    const x = id % this.#tiles.columns
    const y = Math.floor(id / this.#tiles.columns)
    for (const [q, { vector: wanted, areas }] of this.#queries.entries()) {
      let similarity = 0
      for (let d = 0; d < vector.length; d++) similarity += vector[d]! * wanted[d]!
      const found = this.#found[q]!
      this.#keep(found[0]!, id, similarity)
      this.#keep(found[1 + SHARES.length + label]!, id, similarity)
      for (const [i, months] of MONTHS.entries()) {
        if (month < months) this.#keep(found[1 + SHARES.length + LABELS.length + i]!, id, similarity)
      }
      for (const [i, [x0, y0, x1, y1]] of areas.entries()) {
        if (x >= x0 && x <= x1 && y >= y0 && y <= y1) this.#keep(found[1 + i]!, id, similarity)
      }
    }
  }

  /** Ids of the nearest rows. */
  of(query: number, filter: number): number[] {
    return this.#found[query]![filter]!.map(({ id }) => id)
  }

  #keep(list: { id: number; similarity: number }[], id: number, similarity: number): void {
    if (list.length === this.#wanted && list.at(-1)!.similarity >= similarity) return
    let place = list.length
    while (place > 0 && list[place - 1]!.similarity < similarity) place--
    list.splice(place, 0, { id, similarity })
    if (list.length > this.#wanted) list.pop()
  }
}

/** Latent numbers whose spread falls off, as that of principal components does. */
function spectrum(draw: () => number, scale: number): Float32Array {
  return Float32Array.from({ length: LATENT }, (_, k) => (scale * draw()) / Math.sqrt(1 + k / 4))
}

/** From 0 to 1 by the id: the same in JavaScript as in SQL. */
function scatter(id: number): number {
  return Number((BigInt(id) * 2654435761n) % 4294967296n) / 4294967296
}

function gaussians(seed: number): () => number {
  const random = seededRandom(seed)
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
