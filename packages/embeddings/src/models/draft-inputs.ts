import type { TensorMetadata } from '../engine/extra-inputs.ts'
import { modelFileUnfit } from '../errors.ts'
import type { ExtraInput, ModelManifest } from './manifest.ts'

const TYPES: ReadonlySet<string> = new Set(['float32', 'float16', 'uint8', 'int8'])

/**
 * The image input of a graph, found by its shape.
 *
 * @param notes receives the assumptions
 * @throws MODEL_MISMATCH
 */
export function imageInput(
  file: string,
  inputs: readonly TensorMetadata[],
  notes: string[],
): { image: TensorMetadata; input: ModelManifest['input'] } {
  const images = inputs.filter(({ type }) => TYPES.has(type))
  const image = images.find(({ shape }) => shape.length === 4) ?? images.find(({ shape }) => shape.length === 5)
  if (!image) {
    const all = inputs.map(({ name, type, shape }) => `${name} ${type} [${shape.join(', ')}]`).join('; ')
    throw modelFileUnfit({
      file,
      problem: `none of its inputs is an image of four axes, or of five with one date, in float32, float16, uint8 or int8: ${all}`,
    })
  }
  const sizes = image.shape.map((size) => (typeof size === 'number' && size > 0 ? size : null))
  const [batch = null, ...rest] = sizes
  const { layout, channels, height, width } = rest.length === 4 ? withTime(file, image, rest) : withoutTime(rest)
  if ((height === null) !== (width === null))
    notes.push(`one side of ${image.name} is ${height ?? width}, the other free: square tiles of it are taken`)
  const fixed = { width: width ?? height, height: height ?? width }
  if (batch !== null && batch > 1)
    notes.push(`${image.name} takes ${batch} tiles at a time: runs of fewer are filled up`)
  if (rest.length === 4) notes.push(`${image.name} has a time axis: it is fed one date`)
  if (channels === null) notes.push(`the channels of ${image.name} are free: three are taken`)
  const bands = namesOf(channels ?? 3)
  if (bands.length !== 3) notes.push('name the bands: colours, common names of STAC, or names of the sensor')
  return {
    image,
    input: {
      name: image.name,
      size: fixed.width !== null && fixed.height !== null ? { width: fixed.width, height: fixed.height } : null,
      bands,
      mean: bands.map(() => 0),
      std: bands.map(() => 1),
      batch: batch ?? 1,
      ...(image.type !== 'float32' && { type: image.type as 'float16' | 'uint8' | 'int8' }),
      ...(layout !== 'nchw' && { layout }),
    },
  }
}

/** Sizes of the axes after the batch; null for a size that is free. */
interface Axes {
  readonly layout: ModelManifest['input']['layout']
  readonly channels: number | null
  readonly height: number | null
  readonly width: number | null
}

function withoutTime([first = null, second = null, third = null]: readonly (number | null)[]): Axes {
  return third !== null && (first === null ? third <= 64 : third < first)
    ? { layout: 'nhwc', channels: third, height: first, width: second }
    : { layout: 'nchw', channels: first, height: second, width: third }
}

/** Of the two axes before rows and columns, time is the one of size 1, or else the free one. */
function withTime(
  file: string,
  { name, shape }: TensorMetadata,
  [first = null, second = null, height = null, width = null]: readonly (number | null)[],
): Axes {
  if (second === 1 || (second === null && first !== 1)) return { layout: 'ncthw', channels: first, height, width }
  if (first === 1 || first === null) return { layout: 'ntchw', channels: second, height, width }
  throw modelFileUnfit({
    file,
    problem: `${name} [${shape.join(', ')}] takes several dates at once, and a tile is of one: export it for one date`,
  })
}

function namesOf(channels: number): string[] {
  return channels === 3
    ? ['red', 'green', 'blue']
    : Array.from({ length: channels }, (_, i) => (channels === 1 ? 'gray' : `band${i + 1}`))
}

/** Meanings of the other inputs, by their names and widths; unknown ones are filled with zeros. */
export function extraInputs(
  inputs: readonly TensorMetadata[],
  bands: number,
  notes: string[],
): Pick<ModelManifest, 'extra_inputs'> {
  if (inputs.length === 0) return {}
  return {
    extra_inputs: inputs.map((input): ExtraInput => {
      const is = meaningOf(input, bands)
      if (is !== null) {
        notes.push(`${input.name} is taken for ${is} by its name and shape`)
        return { name: input.name, is }
      }
      notes.push(`${input.name} [${input.shape.join(', ')}] is filled with zeros: say what it is`)
      return { name: input.name, is: 'constant', values: [0] }
    }),
  }
}

function meaningOf({ name, shape }: TensorMetadata, bands: number): Exclude<ExtraInput['is'], 'constant'> | null {
  const last = shape.at(-1)
  const width = typeof last === 'number' && last > 0 ? last : null
  const of = (length: number) => width === null || width === length
  if (/gsd|resolution/i.test(name)) return of(1) ? 'gsd' : null
  if (/wave/i.test(name)) return of(bands) ? 'wavelengths' : null
  const lower = name.toLowerCase()
  const place = (lower.includes('lat') && lower.includes('lon')) || lower.includes('location')
  // A coordinate in time is not a location.
  if (!place && /time|date|temporal/.test(lower))
    return width === 4 ? 'week-hour-waves' : width === 3 ? 'day-month-year' : of(2) ? 'year-day' : null
  if (!place && !lower.includes('coord')) return null
  return width === 4 ? 'latitude-longitude-waves' : of(2) ? 'latitude-longitude' : null
}
