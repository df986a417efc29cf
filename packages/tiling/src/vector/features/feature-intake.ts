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

/** What the intake knows of all features together. */
export interface IntakeStats {
  /** Features with a geometry. */
  readonly features: number
  /** Features that were left out: no geometry, or one beyond the coordinates of the Earth. */
  readonly skipped: number
  /** Vertices of lines and polygons, in the order of the records: what a bit per vertex needs. */
  readonly vertices: number
  /** West, south, east, north in degrees. */
  readonly bounds: readonly [number, number, number, number]
  readonly segments: LogHistogram
  readonly kinds: ReadonlySet<number>
  readonly attributes: readonly AttributeStats[]
}

/** Takes batches in, encodes each feature once, and gives them back in the order of a Hilbert curve. */
export class FeatureIntake {
  readonly #reader = new WkbReader()
  readonly #sorter: RecordSorter
  readonly #encoder: AttributeEncoder
  readonly #attributeCount: number
  readonly #entries = new GrowingBytes()
  readonly #segments = new LogHistogram()
  readonly #kinds = new Set<number>()
  #features = 0
  #skipped = 0
  #vertices = 0
  #west = Number.POSITIVE_INFINITY
  #south = Number.POSITIVE_INFINITY
  #east = Number.NEGATIVE_INFINITY
  #north = Number.NEGATIVE_INFINITY

  constructor(attributes: readonly string[], openScratch: OpenScratch, memoryBytes: number) {
    this.#sorter = new RecordSorter(openScratch, memoryBytes)
    this.#encoder = new AttributeEncoder(attributes)
    this.#attributeCount = attributes.length
  }

  /** @throws BAD_GEOMETRY */
  add(batch: FeatureBatch): void {
    const { geometry, geometryEnds } = batch
    let start = 0
    for (let row = 0; row < geometryEnds.length; row++) {
      const end = geometryEnds[row]!
      if (this.#reader.read(geometry, start, end, this.#features + this.#skipped)) this.#addFeature(batch, row)
      else this.#skipped++
      start = end
    }
  }

  stats(): IntakeStats {
    return {
      features: this.#features,
      skipped: this.#skipped,
      vertices: this.#vertices,
      bounds: [this.#west, this.#south, this.#east, this.#north],
      segments: this.#segments,
      kinds: this.#kinds,
      attributes: this.#encoder.stats(),
    }
  }

  /** All features, sorted. */
  sorted(): RecordCursor {
    return this.#sorter.sorted()
  }

  [Symbol.dispose](): void {
    this.#sorter[Symbol.dispose]()
  }

  #addFeature(batch: FeatureBatch, row: number): void {
    const reader = this.#reader
    const entries = this.#entries
    entries.at = 0
    const id = tileIdentifier(batch.ids?.[row])
    if (id !== null) entries.at = writeId(entries.bytes, 0, id)
    const idSize = entries.at
    for (let i = 0; i < this.#attributeCount; i++) this.#encoder.write(entries, i, batch.columns[i]![row] ?? null)
    const attributes = { bytes: entries.bytes, idSize, size: entries.at }
    if (reader.points.size > 0) this.#addShape(reader.points, attributes)
    if (reader.lines.size > 0) this.#addShape(reader.lines, attributes)
    if (reader.polygons.size > 0) this.#addShape(reader.polygons, attributes)
    this.#features++
    if (reader.west < this.#west) this.#west = reader.west
    if (reader.south < this.#south) this.#south = reader.south
    if (reader.east > this.#east) this.#east = reader.east
    if (reader.north > this.#north) this.#north = reader.north
  }

  #addShape(shape: Shape, attributes: { bytes: Uint8Array; idSize: number; size: number }): void {
    this.#kinds.add(shape.kind)
    this.#measure(shape)
    this.#sorter.reserve(featureSizeBound(shape, attributes))
    const end = writeFeature(this.#sorter.log.bytes, this.#sorter.log.at, shape, attributes)
    this.#sorter.commit(placeOf(shape), end)
  }

  #measure(shape: Shape): void {
    if (shape.kind === POINT) return
    this.#vertices += shape.size
    const xy = shape.xy
    for (let part = 0; part < shape.parts; part++) {
      const end = 2 * shape.ends[part]!
      for (let i = 2 * shape.startOf(part) + 2; i < end; i += 2) {
        this.#segments.add(Math.max(1, Math.abs(xy[i]! - xy[i - 2]!), Math.abs(xy[i + 1]! - xy[i - 1]!)))
      }
    }
  }
}
