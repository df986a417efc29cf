import { GrowingBytes } from '../bytes/growing-bytes.ts'
import type { RecordCursor } from '../spill/record-sorter.ts'
import { RecordSorter } from '../spill/record-sorter.ts'
import type { OpenScratch } from '../spill/scratch.ts'
import { AttributeEncoder, tileIdentifier, writeId } from './attributes.ts'
import type { AttributeStats } from './attributes.ts'
import type { FeatureBatch } from './feature-batch.ts'
import { featureSizeBound, writeFeature } from './feature-record.ts'
import { LogHistogram } from './log-histogram.ts'
import { placeOf } from './place.ts'
import { POINT } from './shape.ts'
import type { Shape } from './shape.ts'
import { WkbReader } from './wkb.ts'

/** Facts about the features of one layer. */
export interface LayerStats {
  /** Features with a geometry. */
  readonly features: number
  /** Features that were left out: without a geometry, or with one beyond the coordinates of the Earth. */
  readonly skipped: number
  readonly segments: LogHistogram
  /** Distances between consecutive features on the Hilbert curve; filled by the reader of the records. */
  readonly spacing: LogHistogram
  readonly kinds: ReadonlySet<number>
  readonly attributes: readonly AttributeStats[]
}

/** Facts about all features together. */
export interface IntakeStats {
  readonly features: number
  readonly skipped: number
  /** Number of records; a feature with several geometry kinds has one record per kind. */
  readonly records: number
  /** Number of vertices of lines and polygons, in the order of the records; one bit per vertex marks junctions. */
  readonly vertices: number
  /** West, south, east, north in degrees. */
  readonly bounds: readonly [number, number, number, number]
  readonly layers: readonly LayerStats[]
}

/** Accepts batches, encodes each feature once, and returns the features sorted along a Hilbert curve. */
export class FeatureIntake {
  readonly #reader = new WkbReader()
  readonly #sorter: RecordSorter
  readonly #layers: Layer[]
  readonly #entries = new GrowingBytes()
  #records = 0
  #vertices = 0
  #west = Number.POSITIVE_INFINITY
  #south = Number.POSITIVE_INFINITY
  #east = Number.NEGATIVE_INFINITY
  #north = Number.NEGATIVE_INFINITY

  /** @param attributes names of the attributes of each layer */
  constructor(attributes: readonly (readonly string[])[], openScratch: OpenScratch, memoryBytes: number) {
    this.#sorter = new RecordSorter(openScratch, memoryBytes)
    this.#layers = attributes.map((names, index) => new Layer(index, names))
  }

  /** @throws BAD_GEOMETRY */
  add(batch: FeatureBatch): void {
    const { geometry, geometryEnds } = batch
    const layer = this.#layers[batch.layer ?? 0]!
    let start = 0
    for (let row = 0; row < geometryEnds.length; row++) {
      const end = geometryEnds[row]!
      if (this.#reader.read(geometry, start, end, layer.features + layer.skipped)) this.#addFeature(batch, row, layer)
      else layer.skipped++
      start = end
    }
  }

  stats(): IntakeStats {
    const layers = this.#layers.map((layer) => layer.stats())
    return {
      features: layers.reduce((sum, { features }) => sum + features, 0),
      skipped: layers.reduce((sum, { skipped }) => sum + skipped, 0),
      records: this.#records,
      vertices: this.#vertices,
      bounds: [this.#west, this.#south, this.#east, this.#north],
      layers,
    }
  }

  /** All features, sorted. */
  sorted(): RecordCursor {
    return this.#sorter.sorted()
  }

  [Symbol.dispose](): void {
    this.#sorter[Symbol.dispose]()
  }

  #addFeature(batch: FeatureBatch, row: number, layer: Layer): void {
    const reader = this.#reader
    const entries = this.#entries
    entries.at = 0
    const id = tileIdentifier(batch.ids?.[row])
    if (id !== null) entries.at = writeId(entries.bytes, 0, id)
    const idSize = entries.at
    for (let i = 0; i < layer.attributeCount; i++) layer.encoder.write(entries, i, batch.columns[i]![row] ?? null)
    const attributes = { bytes: entries.bytes, idSize, size: entries.at }
    if (reader.points.size > 0) this.#addShape(reader.points, attributes, layer)
    if (reader.lines.size > 0) this.#addShape(reader.lines, attributes, layer)
    if (reader.polygons.size > 0) this.#addShape(reader.polygons, attributes, layer)
    layer.features++
    if (reader.west < this.#west) this.#west = reader.west
    if (reader.south < this.#south) this.#south = reader.south
    if (reader.east > this.#east) this.#east = reader.east
    if (reader.north > this.#north) this.#north = reader.north
  }

  #addShape(shape: Shape, attributes: { bytes: Uint8Array; idSize: number; size: number }, layer: Layer): void {
    layer.kinds.add(shape.kind)
    if (shape.kind !== POINT) {
      this.#vertices += shape.size
      layer.measure(shape)
    }
    this.#records++
    this.#sorter.reserve(featureSizeBound(shape, attributes))
    const { bytes, at } = this.#sorter.log
    this.#sorter.commit(placeOf(shape), writeFeature(bytes, at, shape, attributes, layer.index))
  }
}

/** Counts of one layer so far. */
class Layer {
  readonly index: number
  readonly encoder: AttributeEncoder
  readonly attributeCount: number
  readonly kinds = new Set<number>()
  features = 0
  skipped = 0
  readonly #segments = new LogHistogram()

  constructor(index: number, attributes: readonly string[]) {
    this.index = index
    this.encoder = new AttributeEncoder(attributes)
    this.attributeCount = attributes.length
  }

  measure({ xy, ends, parts }: Shape): void {
    let start = 0
    for (let part = 0; part < parts; part++) {
      const end = 2 * ends[part]!
      for (let i = start + 2; i < end; i += 2) {
        this.#segments.add(Math.max(1, Math.abs(xy[i]! - xy[i - 2]!), Math.abs(xy[i + 1]! - xy[i - 1]!)))
      }
      start = end
    }
  }

  stats(): LayerStats {
    const { features, skipped, kinds, encoder } = this
    const attributes = encoder.stats()
    return { features, skipped, segments: this.#segments, spacing: new LogHistogram(), kinds, attributes }
  }
}
