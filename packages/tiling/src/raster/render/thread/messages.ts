import type { ByteSpan } from '../blocks.ts'
import type { RenderStyle } from '../renderer.ts'

export type PictureFormat = 'png' | 'webp' | 'jpeg'

/** What is wanted of a raster. */
export type RenderRequest =
  | { readonly type: 'describe' }
  | {
      readonly type: 'tile'
      readonly z: number
      readonly x: number
      readonly y: number
      readonly size: number
      readonly buffer: number
      readonly style: RenderStyle
      readonly format: PictureFormat
      /** False for a picture without transparency; true when absent. */
      readonly mask?: boolean
    }
  | {
      readonly type: 'box'
      /** West, south, east, north in degrees. */
      readonly box: readonly [number, number, number, number]
      readonly size: readonly [number, number]
      readonly style: RenderStyle
      readonly format: PictureFormat
      /** False for a picture without transparency; true when absent. */
      readonly mask?: boolean
    }
  | {
      readonly type: 'preview'
      readonly maxSize: number
      /** Exactly this size, whatever the proportions. */
      readonly size: readonly [number, number] | null
      readonly style: RenderStyle
      readonly format: PictureFormat
      /** False for a picture without transparency; true when absent. */
      readonly mask?: boolean
    }

/** A picture of a file. */
export interface RenderJob {
  /** Stands for the content of the file: what a thread knows of it is kept by this name. */
  readonly key: string
  readonly bytes: number
  readonly request: RenderRequest
}

/** What a thread can do. */
export interface RenderMethods {
  render(job: RenderJob): unknown
}

/** Fill `into` with the spans, one after the other, then write 1 (or 2: they could not be read) to `state[0]` and wake it. */
export interface ReadEvent {
  readonly spans: readonly ByteSpan[]
  readonly into: SharedArrayBuffer
  readonly state: SharedArrayBuffer
}
