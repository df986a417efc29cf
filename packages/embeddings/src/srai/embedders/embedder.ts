import { embedderUnknown, invalidOption } from '../errors.ts'
import type { Aggregation } from './contextual-count.ts'

/** Numbers of features by tag. */
export interface CountEmbedder {
  readonly kind: 'count'
  /** Whether each value of a key is counted separately; otherwise keys are counted. Default true. */
  readonly subcategories?: boolean
}

/** Counts of a cell and of the rings around it. */
export interface ContextualCountEmbedder {
  readonly kind: 'contextual-count'
  /** False when absent, as in srai. */
  readonly subcategories?: boolean
  /** Rings, 1 to 10; 1 when absent. */
  readonly distance?: number
  /** Appends the rings' numbers to the cell's own instead of adding them with falling weight; default false. */
  readonly concat?: boolean
  /** `average` when absent. */
  readonly aggregation?: Aggregation
}

/** Embeddings learned from the counts in the job. */
export interface Hex2VecEmbedder {
  readonly kind: 'hex2vec'
  /** True when absent. */
  readonly subcategories?: boolean
  /** Sizes of the encoder's layers; 150, 75, 50 when absent. */
  readonly layers?: readonly number[]
  /** 1 to 100; 3 when absent. */
  readonly epochs?: number
  /** 32 when absent. */
  readonly batch?: number
  /** 0.001 when absent. */
  readonly learningRate?: number
  /** Cells within this number of rings are not used as negative samples, 2 to 10; default 2. */
  readonly negativeDistance?: number
  /** The same seed gives the same embeddings; 0 when absent. */
  readonly seed?: number
}

export type RegionEmbedder = CountEmbedder | ContextualCountEmbedder | Hex2VecEmbedder

/** An embedder with all options set. */
export type CompleteEmbedder = Required<CountEmbedder> | Required<ContextualCountEmbedder> | Required<Hex2VecEmbedder>

/** The names that requests use; also the catalogue's names `srai-<kind>-osm-v1` and srai's class names. */
export const EMBEDDER_NAMES: readonly RegionEmbedder['kind'][] = ['count', 'contextual-count', 'hex2vec']

/** Maximum distance: rings grow with the distance, and their memory with its square. */
const MAX_DISTANCE = 10

/**
 * The embedder of a name: `contextual-count`, `ContextualCountEmbedder` and `srai-contextual-count-osm-v1` are the
 * same.
 *
 * @throws EMBEDDER_UNKNOWN for all other names
 */
export function embedderOf(name: string): RegionEmbedder {
  const words = name
    .replace(/^srai-(.*)-osm-v1$/, '$1')
    .replace(/Embedder$/, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
  const key = words.toLowerCase().replaceAll('_', '-').replace('hex2-vec', 'hex2vec')
  const kind = EMBEDDER_NAMES.find((known) => known === key)
  if (!kind) throw embedderUnknown({ name, known: EMBEDDER_NAMES })
  return { kind }
}

/** The name under which an embedder's tables are catalogued. */
export function embedderModelName({ kind }: RegionEmbedder): string {
  return `srai-${kind}-osm-v1`
}

/**
 * Fills in the defaults of absent options.
 *
 * @throws INVALID_EMBEDDER_OPTION
 */
export function completeEmbedder(embedder: RegionEmbedder): CompleteEmbedder {
  switch (embedder.kind) {
    case 'count':
      return { subcategories: true, ...embedder }
    case 'contextual-count': {
      const complete = {
        subcategories: false,
        distance: 1,
        concat: false,
        aggregation: 'average',
        ...embedder,
      } as const
      requireWhole('distance', complete.distance, 1, MAX_DISTANCE)
      return complete
    }
    case 'hex2vec': {
      const complete = { ...HEX2VEC_DEFAULTS, ...embedder }
      if (complete.layers.length === 0)
        throw invalidOption({ option: 'layers', problem: 'must have at least one size' })
      for (const size of complete.layers) requireWhole('layers', size, 1, 2000)
      requireWhole('epochs', complete.epochs, 1, 100)
      requireWhole('batch', complete.batch, 1, 4096)
      requireWhole('negativeDistance', complete.negativeDistance, 2, MAX_DISTANCE)
      requireWhole('seed', complete.seed, 0, 2 ** 32 - 1)
      if (!(complete.learningRate > 0 && complete.learningRate <= 1)) {
        throw invalidOption({ option: 'learningRate', problem: 'must be above 0 and at most 1' })
      }
      return complete
    }
    default:
      throw embedderUnknown({ name: JSON.stringify(embedder), known: EMBEDDER_NAMES })
  }
}

const HEX2VEC_DEFAULTS = {
  subcategories: true,
  layers: [150, 75, 50],
  epochs: 3,
  batch: 32,
  learningRate: 0.001,
  negativeDistance: 2,
  seed: 0,
} as const

function requireWhole(option: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return
  throw invalidOption({ option, problem: `must be a whole number from ${min} to ${max}` })
}
