import { modelInputMissing } from '../errors.ts'
import type { ExtraInput, ModelManifest } from '../models/manifest.ts'

/** Metadata of tiles beside their pixels. */
export interface TileContext {
  /** When the imagery was taken, RFC 3339. */
  readonly datetime: string | null
  /** Meters that a pixel of the model's input covers. */
  readonly gsd: number | null
  /** Wavelength of each channel in nanometers; null when one is unknown. */
  readonly wavelengths: readonly number[] | null
  /** Longitude and latitude of the middle of each tile, by its number. */
  readonly places: Float64Array | null
}

export const NO_CONTEXT: TileContext = { datetime: null, gsd: null, wavelengths: null, places: null }

const TIMES: ReadonlySet<ExtraInput['is']> = new Set(['week-hour-waves', 'year-day', 'day-month-year'])

/**
 * Refuses a model that requires a time when none is known.
 *
 * @throws MODEL_INPUT_MISSING
 */
export function checkDatetime({ id, extra_inputs: extra = [] }: ModelManifest, datetime: string | null): void {
  const input = extra.find(({ is }) => TIMES.has(is))
  if (input && datetime === null) throw modelInputMissing({ id, input: input.name, what: 'datetime' })
}
