import { GrowingBytes } from '../bytes/growing-bytes.ts'
import { AttributeEncoder, type AttributeStats } from '../features/attributes.ts'
import { featureSizeBound, writeFeature } from '../features/feature-record.ts'
import { POINT, Shape } from '../features/shape.ts'
import type { RecordLog } from '../spill/record-log.ts'

/** An attribute of clusters that aggregates numbers of their points. */
export interface ClusterAggregate {
  readonly attribute: string
  readonly operation: 'sum' | 'mean' | 'min' | 'max'
}

/** Attributes of a cluster in supercluster and MapLibre. */
export const CLUSTER_ATTRIBUTES = ['cluster', 'point_count', 'point_count_abbreviated'] as const

/** Writes clusters as feature records of a layer. */
export class ClusterRecords {
  readonly #layer: number
  readonly #log: RecordLog
  readonly #encoder: AttributeEncoder
  readonly #names: readonly string[]
  readonly #aggregates: readonly ClusterAggregate[]
  readonly #shape = new Shape()
  readonly #entries = new GrowingBytes()

  /** @param names all attributes of the layer's tiles, those of clusters among them */
  constructor(layer: number, log: RecordLog, names: readonly string[], aggregates: readonly ClusterAggregate[]) {
    this.#layer = layer
    this.#log = log
    this.#encoder = new AttributeEncoder(names)
    this.#names = names
    this.#aggregates = aggregates
  }

  /**
   * Writes a cluster at a place in world coordinates; returns its address.
   *
   * @param values of the aggregates, in their order; NaN where no point has a number
   */
  write(x: number, y: number, count: number, values: readonly number[]): number {
    const entries = this.#entries
    entries.at = 0
    this.#add('cluster', true)
    this.#add('point_count', count)
    this.#add('point_count_abbreviated', abbreviated(count))
    for (const [i, { attribute }] of this.#aggregates.entries()) this.#add(attribute, values[i]!)
    const shape = this.#shape
    shape.reset(POINT)
    shape.ensure(1)
    shape.xy[0] = Math.round(x)
    shape.xy[1] = Math.round(y)
    shape.size = 1
    shape.endPart(false)
    const attributes = { bytes: entries.bytes, idSize: 0, size: entries.at }
    this.#log.reserve(featureSizeBound(shape, attributes))
    return this.#log.commit(writeFeature(this.#log.bytes, this.#log.at, shape, attributes, this.#layer))
  }

  /** Statistics of the attributes that only clusters have. */
  stats(): AttributeStats[] {
    return this.#encoder
      .stats()
      .filter(({ attribute }) => (CLUSTER_ATTRIBUTES as readonly string[]).includes(attribute))
  }

  #add(name: string, value: number | string | boolean): void {
    this.#encoder.write(this.#entries, this.#names.indexOf(name), value)
  }
}

/** A count in few characters, as supercluster writes it: 1200 is `1.2k`. */
function abbreviated(count: number): number | string {
  if (count >= 10_000) return `${Math.round(count / 1000)}k`
  return count >= 1000 ? `${Math.round(count / 100) / 10}k` : count
}
