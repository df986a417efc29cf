import { seededRandom } from '@terrane/core'

/** Shares of all rows that lie in the areas. */
const SHARES = [0.0005, 0.005, 0.02, 0.1, 0.5, 0.2, 0.3] as const
/** Labels, and the shares of all rows that have them. */
const LABELS = [
  { name: 'thousandth', keeps: 0.001 },
  { name: 'hundredth', keeps: 0.01 },
  { name: 'tenth', keeps: 0.1 },
  { name: 'third', keeps: 0.3 },
  { name: 'rest', keeps: 0.589 },
] as const

/** Number of rows of a place, each in another part of the year. */
const VISITS = 4
/**
 * Offset from the grid of the tiles of every other source, as a part of their side. Equal places therefore have
 * overlapping shapes, not equal ones.
 */
const SHIFT = 0.05
/** Dates of the sources, one per month. Each source has the same number of rows, scattered over the grid. */
export const DATES = Array.from({ length: 12 }, (_, month) => `2024-${String(month + 1).padStart(2, '0')}-15`)
/** Conditions of a search; absent ones keep all rows. */
export interface Filter {
  readonly name: string
  /** Index of the share of its area. */
  readonly area?: number
  /** Index of its label. */
  readonly label?: number
  /** Number of months from the first one. */
  readonly months?: number
  /** Numbers of sources. */
  readonly sources?: readonly number[]
  /** Whether only the newest row of each place counts. */
  readonly isLatest?: boolean
}

export const FILTERS: readonly Filter[] = [
  { name: 'none' },
  ...SHARES.map((_, area) => ({ name: 'area', area })),
  ...LABELS.map((_, label) => ({ name: 'label', label })),
  ...[1, 3, 6].map((months) => ({ name: 'time', months })),
  { name: 'sources', sources: [7] },
  { name: 'sources', sources: [0, 4, 8, 11] },
  { name: 'area, time', area: 4, months: 6 },
  { name: 'area, time', area: 3, months: 3 },
  { name: 'area, time', area: 2, months: 1 },
  { name: 'label, time', label: 2, months: 3 },
  { name: 'area, label', area: 4, label: 3 },
  { name: 'area, label', area: 6, label: 2 },
  { name: 'area, label', area: 3, label: 2 },
  { name: 'label, sources', label: 3, sources: [0, 4, 8, 11] },
  { name: 'all three', area: 4, label: 3, months: 6 },
  { name: 'latest', isLatest: true },
  { name: 'latest of 6', isLatest: true, months: 6 },
  { name: 'latest of 1', isLatest: true, months: 1 },
  { name: 'latest, label', isLatest: true, label: 2 },
  { name: 'latest, area', isLatest: true, area: 4 },
  { name: 'latest, area', isLatest: true, area: 6 },
  { name: 'latest, area', isLatest: true, area: 5 },
  { name: 'latest, area', isLatest: true, area: 3 },
  { name: 'latest, area', isLatest: true, area: 2 },
]

/** Share of all rows that a filter keeps. */
export function shareOf({ area, label, months = DATES.length, sources, isLatest }: Filter): number {
  const inTime = sources === undefined ? months / DATES.length : sources.length / DATES.length
  return (
    (area === undefined ? 1 : SHARES[area]!) *
    (label === undefined ? 1 : LABELS[label]!.keeps) *
    (isLatest ? Math.min(inTime, 1 / VISITS) : inTime)
  )
}

/** The arguments of a search with this filter. */
export function argumentsOf({ area, label, months, sources, isLatest }: Filter, { areas }: Query): string {
  return [
    area === undefined ? '' : `, spatial_filter => ${areaSql(areas[area]!)}`,
    label === undefined ? '' : `, label_name => '${LABELS[label]!.name}'`,
    months === undefined ? '' : `, since => '2024-01-01', until => '${DATES[months - 1]!}'`,
    sources === undefined ? '' : `, sources => '{${sources.join()}}'`,
    isLatest ? ', latest => true' : '',
  ].join('')
}

/** Number of dimensions that determine clusters and places. */
const LATENT = 32
const CLUSTERS = 600
const SIZE = 0.001
const ROWS_PER_BATCH = 500
/** Number of values that the noise of vectors is taken from, at a place that is drawn for each. */
const NOISE = 2 ** 16

/** Columns and rows of the grid, both ends included. */
export type Area = readonly [x0: number, y0: number, x1: number, y1: number]

export interface Query {
  readonly vector: Float32Array
  /** One per share of {@link SHARES}. */
  readonly areas: readonly Area[]
}

/** Rows of a synthetic table of tiles: a grid whose vectors depend on their place. */
export class Tiles {
  readonly rows: number
  readonly dims: number
  readonly places: number
  readonly columns: number
  readonly #directions: Float32Array
  readonly #shared: Float32Array
  readonly #noise: Float32Array
  readonly #clusters: readonly { readonly x: number; readonly y: number; readonly latent: Float32Array }[]

  constructor(rows: number, dims: number) {
    const draw = gaussians(1)
    this.rows = rows
    this.dims = dims
    this.places = Math.ceil(rows / VISITS)
    this.columns = Math.ceil(Math.sqrt(this.places))
    this.#directions = Float32Array.from({ length: LATENT * dims }, draw)
    this.#shared = Float32Array.from({ length: dims }, () => 4 + 3 * draw())
    this.#noise = Float32Array.from({ length: NOISE + dims }, () => 0.6 * draw())
    const random = seededRandom(2)
    this.#clusters = Array.from({ length: CLUSTERS }, () => ({
      x: random() * this.columns,
      y: random() * this.columns,
      latent: spectrum(draw, 1),
    }))
  }

  /** Footprint of a tile. */
  ring(id: number): Float64Array {
    const shift = SHIFT * (this.sourceOf(id) % 2)
    const west = 5 + (this.columnOf(id) + shift) * SIZE
    const north = 50 - this.rowOf(id) * SIZE
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

  columnOf(id: number): number {
    return (id % this.places) % this.columns
  }

  rowOf(id: number): number {
    return Math.floor((id % this.places) / this.columns)
  }

  /** The source of a tile; a later row of a place is of a later part of the year. */
  sourceOf(id: number): number {
    const months = DATES.length / VISITS
    return Math.floor(id / this.places) * months + Math.floor(scatter(id + 1) * months)
  }

  /** True for a tile of the first months whose place has no later row within these months. */
  isNewest(id: number, months: number): boolean {
    const later = id + this.places
    return this.sourceOf(id) < months && (later >= this.rows || this.sourceOf(later) >= months)
  }

  /** A vector at a place: one of the clusters around it, plus noise of its own. */
  vectorAt(x: number, y: number, random: () => number, draw: () => number): Float32Array {
    // The nearest of some clusters drawn at random: mostly a neighbour, sometimes a distant one.
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
    const noise = Math.floor(random() * NOISE)
    let energy = 0
    for (let d = 0; d < this.dims; d++) {
      vector[d]! += this.#noise[noise + d]!
      energy += vector[d]! ** 2
    }
    const scale = 1 / Math.sqrt(energy)
    return vector.map((v) => v * scale)
  }

  /**
   * Rows in batches; `onRow` is called for each row. Each batch has its own random generator, so that parts can be made
   * separately.
   */
  async *batches(onRow: (id: number, vector: Float32Array) => void, begin = 0, end = this.rows) {
    for (let from = begin; from < end; from += ROWS_PER_BATCH) {
      const random = seededRandom(2 * from + 3)
      const draw = gaussians(2 * from + 4)
      yield Array.from({ length: Math.min(ROWS_PER_BATCH, end - from) }, (_, i) => {
        const tile = from + i
        const embedding = this.vectorAt(this.columnOf(tile), this.rowOf(tile), random, draw)
        onRow(tile, embedding)
        const id = this.sourceOf(tile) * 2 ** 32 + tile
        const label = LABELS[this.labelOf(tile)]!.name
        return { id, polygons: [this.ring(tile)], embedding, attributes: [tile, 0, 0, 0, 1], label }
      })
    }
  }
}

/** Queries at random places, with areas that need not be near them. */
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

/**
 * An area that intersects exactly the tiles of a part of the grid, because its edges lie within the outermost of them.
 */
function areaSql([x0, y0, x1, y1]: Area): string {
  const edges = [5 + (x0 + 0.25) * SIZE, 50 - (y1 + 0.75) * SIZE, 5 + (x1 + 0.75) * SIZE, 50 - (y0 + 0.25) * SIZE]
  return `st_makeenvelope(${edges.join()}, 4326)`
}

/** The nearest rows of each query under each filter, by brute force over rows that come one by one. */
export class Neighbours {
  readonly #tiles: Tiles
  readonly #queries: readonly Query[]
  readonly #wanted: number
  /** By query and filter. */
  readonly #found: { id: number; similarity: number }[][][]

  constructor(tiles: Tiles, queries: readonly Query[], wanted: number) {
    this.#tiles = tiles
    this.#queries = queries
    this.#wanted = wanted
    this.#found = queries.map(() => FILTERS.map(() => []))
  }

  add(id: number, vector: Float32Array): void {
    const [label, month] = [this.#tiles.labelOf(id), this.#tiles.sourceOf(id)]
    const [x, y] = [this.#tiles.columnOf(id), this.#tiles.rowOf(id)]
    const kept = FILTERS.keys()
      .toArray()
      .filter((i) => {
        const { label: ofFilter = label, months = DATES.length, sources, isLatest } = FILTERS[i]!
        return (
          ofFilter === label &&
          month < months &&
          (sources?.includes(month) ?? true) &&
          (!isLatest || this.#tiles.isNewest(id, months))
        )
      })
    const isWithin = ([x0, y0, x1, y1]: Area) => x >= x0 && x <= x1 && y >= y0 && y <= y1
    for (const [q, { vector: wanted, areas }] of this.#queries.entries()) {
      let similarity = 0
      for (let d = 0; d < vector.length; d++) similarity += vector[d]! * wanted[d]!
      for (const i of kept) {
        const list = this.#found[q]![i]!
        if (list.length === this.#wanted && list.at(-1)!.similarity >= similarity) continue
        const { area } = FILTERS[i]!
        if (area === undefined || isWithin(areas[area]!)) this.#keep(list, id, similarity)
      }
    }
  }

  /** The nearest rows, nearest first. */
  of(query: number, filter: number): readonly { readonly id: number; readonly similarity: number }[] {
    return this.#found[query]![filter]!
  }

  #keep(list: { id: number; similarity: number }[], id: number, similarity: number): void {
    let place = list.length
    while (place > 0 && list[place - 1]!.similarity < similarity) place--
    list.splice(place, 0, { id, similarity })
    if (list.length > this.#wanted) list.pop()
  }
}

/** Random latent values with decreasing variance, like principal components. */
function spectrum(draw: () => number, scale: number): Float32Array {
  return Float32Array.from({ length: LATENT }, (_, k) => (scale * draw()) / Math.sqrt(1 + k / 4))
}

/** A number from 0 to 1 that depends only on the id. */
function scatter(id: number): number {
  return (Math.imul(id, 2654435761) >>> 0) / 2 ** 32
}

function gaussians(seed: number): () => number {
  const random = seededRandom(seed)
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
