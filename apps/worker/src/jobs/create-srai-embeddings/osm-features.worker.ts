import { Aoi, type Ring } from '@terrane/core'
import {
  filterTags,
  type FeatureHooks,
  type Geometry,
  type OsmFilter,
  type PolygonRings,
  type Position,
  type RegionFeature,
  type TagValues,
  type Tags,
} from '@terrane/embeddings/srai'
import {
  AREA,
  AREA_RELATIONS,
  ClosedWayTest,
  LINE,
  POINT,
  TagView,
  UNITS_PER_DEGREE,
  fileSource,
  openOsm,
  readFeatures,
  type ElementKind,
  type FeatureVisitor,
  type OsmFeature,
  type ReadFeaturesResult,
} from '@terrane/osm'
import { limitsOf, type OsmMemoryBudget } from '../osm/memory-budget.ts'

/** Options of `openFeatures` for an OSM file. */
export interface OsmFeatureOptions {
  readonly path: string
  /** Area; features that touch it are read. */
  readonly area: readonly (readonly Ring[])[]
  readonly filter: OsmFilter
  readonly room: OsmMemoryBudget
}

/** Number of queued features at which reading pauses. */
const MOST_WAITING = 20_000

/** Features of an OSM file that touch an area and match a filter, each once; tags decide what a closed way is. */
export async function* openFeatures(options: OsmFeatureOptions, hooks: FeatureHooks): AsyncGenerator<RegionFeature> {
  const { path, area, filter, room } = options
  const reader = await openOsm(await fileSource(path))
  const queue = new Queue<RegionFeature>()
  const visitor = new FilteredFeatures(filterTags(filter), queue)
  const limits = { ...limitsOf(room), aoi: new Aoi(area), onProgress: hooks.onProgress }
  const reading = readFeatures(reader, visitor, limits)
  void finish(reading, queue, hooks)
  yield* queue.items()
}

async function finish(reading: Promise<ReadFeaturesResult>, queue: Queue<RegionFeature>, hooks: FeatureHooks) {
  try {
    const { counts } = await reading
    hooks.onCounts({ ...counts })
    queue.end()
  } catch (error) {
    queue.fail(error)
  }
}

class FilteredFeatures implements FeatureVisitor {
  readonly tags: TagView
  readonly #queue: Queue<RegionFeature>
  readonly #keys: readonly {
    readonly name: string
    readonly key: number
    readonly values: ReadonlySet<string> | null
  }[]
  readonly #closedWay: ClosedWayTest
  readonly #type: number

  constructor(filter: ReadonlyMap<string, TagValues>, queue: Queue<RegionFeature>) {
    const keys = new Set([...filter.keys(), ...ClosedWayTest.KEYS, 'type'])
    this.tags = new TagView([...keys], (key) => filter.has(key))
    this.#queue = queue
    this.#closedWay = new ClosedWayTest(this.tags)
    this.#type = this.tags.numberOf('type')
    this.#keys = [...filter].map(([name, values]) => ({
      name,
      key: this.tags.numberOf(name),
      values: values === true ? null : new Set(values),
    }))
  }

  select(element: ElementKind): number {
    if (!this.#keys.some(({ key, values }) => isAmong(this.tags.get(key), values))) return 0
    switch (element) {
      case 'node':
        return POINT
      case 'open way':
        return LINE
      case 'closed way':
        return this.#closedWay.isArea() ? AREA : LINE
      case 'relation':
        return AREA_RELATIONS.includes(this.tags.get(this.#type) ?? '') ? AREA : 0
    }
  }

  visit(feature: OsmFeature): void {
    this.#queue.push({ tags: this.#read(), geometry: geometryOf(feature) })
  }

  drain(): Promise<void> | void {
    return this.#queue.room()
  }

  #read(): Tags {
    // Keys come from users, so the object has no prototype whose properties a key could match. NUL cannot be stored.
    const tags = Object.create(null) as Record<string, string>
    for (const { name, key } of this.#keys) {
      const value = this.tags.get(key)
      if (value !== null) tags[name] = value.includes('\0') ? value.replaceAll('\0', '') : value
    }
    return tags
  }
}

function isAmong(value: string | null, values: ReadonlySet<string> | null): boolean {
  return value !== null && (values === null || values.has(value))
}

function geometryOf({ geometry, lon, lat, lineStart, area }: OsmFeature): Geometry {
  if (geometry === POINT) return { type: 'Point', coordinates: positionOf(lon, lat, 0) }
  if (geometry === LINE) return { type: 'LineString', coordinates: positions(lon, lat, 0, lineStart[1]!) }
  const { polygonStart, polygonCount } = area
  const polygons = Array.from({ length: polygonCount }, (_, p) => ringsOf(area, polygonStart[p]!, polygonStart[p + 1]!))
  return { type: 'MultiPolygon', coordinates: polygons }
}

function ringsOf({ lon, lat, ringStart }: OsmFeature['area'], from: number, to: number): PolygonRings {
  return Array.from({ length: to - from }, (_, r) =>
    positions(lon, lat, ringStart[from + r]!, ringStart[from + r + 1]!),
  )
}

function positions(lon: Int32Array, lat: Int32Array, from: number, to: number): Position[] {
  return Array.from({ length: to - from }, (_, i) => positionOf(lon, lat, from + i))
}

function positionOf(lon: Int32Array, lat: Int32Array, i: number): Position {
  return [lon[i]! / UNITS_PER_DEGREE, lat[i]! / UNITS_PER_DEGREE]
}

/** Passes items from a writer that pushes to a reader that pulls, and makes the writer wait when the queue is full. */
class Queue<T> {
  #items: T[] = []
  #ended = false
  #failure: { readonly error: unknown } | null = null
  #more = Promise.withResolvers<void>()
  #room: PromiseWithResolvers<void> | null = null

  push(item: T): void {
    this.#items.push(item)
  }

  /** Hands the pushed items to the reader; resolves when there is room for more. */
  room(): Promise<void> | void {
    if (this.#items.length === 0) return
    this.#more.resolve()
    if (this.#items.length < MOST_WAITING) return
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  end(): void {
    this.#ended = true
    this.#more.resolve()
  }

  fail(error: unknown): void {
    this.#failure = { error }
    this.#more.resolve()
  }

  async *items(): AsyncGenerator<T> {
    for (;;) {
      await this.#more.promise
      this.#more = Promise.withResolvers()
      if (this.#failure) throw this.#failure.error
      const ended = this.#ended
      const items = this.#items
      this.#items = []
      this.#room?.resolve()
      this.#room = null
      yield* items
      if (ended) return
    }
  }
}
