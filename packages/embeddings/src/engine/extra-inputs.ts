import { Tensor } from 'onnxruntime-node'
import type { InferenceSession } from 'onnxruntime-node'
import { modelInputMissing, modelMismatch } from '../errors.ts'
import type { ExtraInput, ModelManifest } from '../models/manifest.ts'
import { halfTensor } from './input-tensors.ts'
import type { TileContext } from './tile-context.ts'

type Metadata = InferenceSession.ValueMetadata

/**
 * The inputs of a graph beside the pixels, filled for some tiles.
 *
 * @throws MODEL_INPUT_MISSING, MODEL_MISMATCH
 */
export function extraTensors(
  manifest: ModelManifest,
  metadata: readonly Metadata[],
  context: TileContext,
  tiles: readonly number[],
): Record<string, Tensor> {
  const feeds: Record<string, Tensor> = {}
  const pixels = metadata.find(({ name }) => name === manifest.input.name)
  for (const extra of manifest.extra_inputs ?? []) {
    const declared = metadata.find(({ name }) => name === extra.name)
    if (declared?.isTensor !== true) throw modelMismatch({ id: manifest.id, problem: `it has no input ${extra.name}` })
    const shared = isShared(extra) && !hasAxisOf(pixels, declared)
    const rows = (shared ? tiles.slice(0, 1) : tiles).map((tile) => valuesOf(manifest.id, extra, context, tile))
    const width = declared.shape.at(-1)
    // A constant may repeat within a row of any width; other values must fill whole rows of the declared width.
    const tooWide = extra.is !== 'constant' && typeof width === 'number' && width > 0 && rows[0]!.length % width !== 0
    if (tooWide) throw modelMismatch({ id: manifest.id, problem: unfilled(declared, rows[0]!.length) })
    feeds[extra.name] = tensorOf(manifest.id, declared, rows, shared ? null : tiles.length)
  }
  return feeds
}

/** One value for all tiles of a run. */
function isShared({ is }: ExtraInput): boolean {
  return is === 'gsd' || is === 'wavelengths' || is === 'constant'
}

/**
 * Whether the graph gives its first axis the name of the batch axis of the pixels: then there is one value per tile.
 */
function hasAxisOf(pixels: Metadata | undefined, declared: Metadata): boolean {
  if (pixels?.isTensor !== true || !declared.isTensor) return false
  const [batch] = pixels.shape
  return typeof batch === 'string' && batch !== '' && declared.shape[0] === batch
}

function valuesOf(id: string, extra: ExtraInput, context: TileContext, tile: number): readonly number[] {
  const missing = (what: keyof TileContext) => modelInputMissing({ id, input: extra.name, what })
  const { datetime, gsd, wavelengths, places } = context
  const date = (): Date => {
    if (datetime === null) throw missing('datetime')
    return new Date(datetime)
  }
  const place = (): readonly [number, number] => {
    if (places === null) throw missing('places')
    return [places[2 * tile]!, places[2 * tile + 1]!]
  }
  switch (extra.is) {
    case 'week-hour-waves':
      return waves((2 * Math.PI * weekOf(date())) / 52, (2 * Math.PI * date().getUTCHours()) / 24)
    case 'year-day':
      return [date().getUTCFullYear(), dayOfYear(date())]
    case 'day-month-year':
      return [date().getUTCDate(), date().getUTCMonth(), date().getUTCFullYear()]
    case 'latitude-longitude':
      return place().toReversed()
    case 'latitude-longitude-waves':
      return waves(...(place().toReversed().map(radians) as [number, number]))
    case 'gsd':
      if (gsd === null) throw missing('gsd')
      return [gsd]
    case 'wavelengths':
      if (wavelengths === null) throw missing('wavelengths')
      return wavelengths.map((nanometers) => nanometers / 1000)
    case 'constant':
      return extra.values ?? []
  }
}

/**
 * Rows of numbers in the shape that the graph declares: a free first size is the batch, other free sizes follow from
 * the numbers. The numbers repeat when the graph has several time steps.
 */
function tensorOf(
  id: string,
  declared: TensorMetadata,
  rows: readonly (readonly number[])[],
  batch: number | null,
): Tensor {
  const length = rows[0]!.length
  const fixed = declared.shape.map((size) => (typeof size === 'number' && size > 0 ? size : null))
  const known = fixed.reduce<number>((product, size) => product * (size ?? 1), 1)
  let free = fixed.filter((size, axis) => size === null && !(axis === 0 && batch !== null)).length
  const dims = fixed.map((size, axis) => {
    if (size !== null) return size
    if (axis === 0 && batch !== null) return batch
    return free-- === 1 ? Math.max(1, Math.round(length / known)) : 1
  })
  const total = dims.reduce((product, size) => product * size, 1)
  const wanted = total / rows.length
  if (!Number.isInteger(wanted / length)) {
    const ofOne = rows.length > 1 && fixed[0] !== null && Number.isInteger(total / length)
    const problem = ofOne
      ? `input ${declared.name} is ${shapeOf(declared)}, which holds the numbers of one tile: input.batch 1 would fit`
      : unfilled(declared, length)
    throw modelMismatch({ id, problem })
  }
  const values = rows.flatMap((row) => Array.from({ length: wanted / length }, () => row).flat())
  switch (declared.type) {
    case 'float16':
      return halfTensor(values, dims)
    case 'int64':
      return new Tensor(
        'int64',
        BigInt64Array.from(values, (value) => BigInt(Math.round(value))),
        dims,
      )
    case 'int32':
      return new Tensor('int32', Int32Array.from(values), dims)
    case 'float64':
      return new Tensor('float64', Float64Array.from(values), dims)
    case 'float32':
      return new Tensor('float32', Float32Array.from(values), dims)
    case 'bool':
      return new Tensor(
        'bool',
        Uint8Array.from(values, (value) => (value === 0 ? 0 : 1)),
        dims,
      )
    default: {
      const problem = `input ${declared.name} is ${declared.type}, and numbers are fed as ${NUMBERS.join(', ')} or bool`
      throw modelMismatch({ id, problem }, { hint: 'Export the model with an input of one of these types.' })
    }
  }
}

/** An input of a graph that is a tensor. */
export type TensorMetadata = Extract<Metadata, { isTensor: true }>

function shapeOf({ shape }: TensorMetadata): string {
  return `[${shape.join(', ')}]`
}

function unfilled(declared: TensorMetadata, length: number): string {
  return `input ${declared.name} is ${shapeOf(declared)}, which ${length} numbers do not fill`
}

const NUMBERS = ['float32', 'float16', 'float64', 'int64', 'int32'] as const

function waves(first: number, second: number): number[] {
  return [Math.sin(first), Math.cos(first), Math.sin(second), Math.cos(second)]
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180
}

/** Day of the year in UTC, from 1. */
function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000) + 1
}

/** The week by ISO 8601, which is that of its Thursday. */
function weekOf(date: Date): number {
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * 86_400_000)
  return Math.ceil(dayOfYear(thursday) / 7)
}
