import type { WkbCursor } from '@terrane/core'
import type { Builder } from 'flatbuffers'
import { doubles, type Dimensions } from './header.ts'

const POINT = 1
const POLYGON = 3
const MULTI_POINT = 4
const MULTI_LINE = 5
const TRIANGLE = 17
const LINES = new Set([2, 8])

// Slots of a geometry.
const ENDS = 0
const XY = 1
const Z = 2
const M = 3
const TYPE = 6
const PARTS = 7
const SLOTS = 8

/** Differences between a geometry and the format. */
export interface GeometryLosses {
  /** Number of parts without a position. */
  emptyParts: number
  /** Whether it lacks a dimension of the header. */
  isFilled: boolean
}

/** Writes a geometry with the dimensions of the file, missing ones 0, without empty parts; 0 when it is empty. */
export function geometryOf(
  builder: Builder,
  cursor: WkbCursor,
  dimensions: Dimensions,
  losses: GeometryLosses,
): number {
  const code = cursor.head()
  const { hasZ, hasM } = cursor
  losses.isFilled ||= (dimensions.hasZ && !hasZ) || (dimensions.hasM && !hasM)
  const positions = new Positions(cursor, losses)
  const parts: number[] = []
  if (code === POINT) positions.take(1, true)
  else {
    const count = cursor.count()
    if (LINES.has(code)) positions.take(count)
    else {
      for (let i = 0; i < count; i++) {
        if (code === POLYGON || code === TRIANGLE) positions.take(cursor.count())
        else if (code === MULTI_POINT || code === MULTI_LINE) {
          const isPoint = cursor.head() === POINT
          positions.take(isPoint ? 1 : cursor.count(), isPoint)
        } else {
          const part = geometryOf(builder, cursor, dimensions, losses)
          if (part !== 0) parts.push(part)
        }
      }
    }
  }
  if (positions.places.length === 0 && parts.length === 0) {
    losses.emptyParts = Math.max(losses.emptyParts, 1)
    return 0
  }
  const own = { xy: positions.xy(), z: positions.at(hasZ ? 16 : null), m: positions.at(hasM ? (hasZ ? 24 : 16) : null) }
  const hasPlaces = own.xy.length > 0
  const xy = hasPlaces ? doubles(builder, own.xy) : 0
  const z = hasPlaces && dimensions.hasZ ? doubles(builder, own.z) : 0
  const m = hasPlaces && dimensions.hasM ? doubles(builder, own.m) : 0
  const partsAt = parts.length === 0 ? 0 : offsets(builder, parts)
  const { ends } = positions
  const endsAt = ends.length > 1 && code !== MULTI_POINT ? integers(builder, ends) : 0
  builder.startObject(SLOTS)
  if (endsAt !== 0) builder.addFieldOffset(ENDS, endsAt, 0)
  if (xy !== 0) builder.addFieldOffset(XY, xy, 0)
  if (z !== 0) builder.addFieldOffset(Z, z, 0)
  if (m !== 0) builder.addFieldOffset(M, m, 0)
  builder.addFieldInt8(TYPE, code, 0)
  if (partsAt !== 0) builder.addFieldOffset(PARTS, partsAt, 0)
  return builder.endObject()
}

/** Positions of one geometry, and where its lines or rings end. */
class Positions {
  readonly places: number[] = []
  readonly ends: number[] = []
  readonly #cursor: WkbCursor
  readonly #losses: GeometryLosses

  constructor(cursor: WkbCursor, losses: GeometryLosses) {
    this.#cursor = cursor
    this.#losses = losses
  }

  take(count: number, isPoint = false): void {
    const cursor = this.#cursor
    const start = cursor.positions(count)
    if (count === 0 || (isPoint && Number.isNaN(cursor.number(start)))) {
      this.#losses.emptyParts++
      return
    }
    for (let i = 0; i < count; i++) this.places.push(start + i * cursor.stride)
    this.ends.push(this.places.length)
  }

  xy(): number[] {
    const cursor = this.#cursor
    const values: number[] = []
    for (const place of this.places) values.push(cursor.number(place), cursor.number(place + 8))
    return values
  }

  /** Values of a further dimension at its offset within positions; all 0 when they lack it. */
  at(offset: number | null): number[] {
    return this.places.map((place) => (offset === null ? 0 : this.#cursor.number(place + offset)))
  }
}

function integers(builder: Builder, values: readonly number[]): number {
  builder.startVector(4, values.length, 4)
  for (let i = values.length - 1; i >= 0; i--) builder.addInt32(values[i]!)
  return builder.endVector()
}

function offsets(builder: Builder, values: readonly number[]): number {
  builder.startVector(4, values.length, 4)
  for (let i = values.length - 1; i >= 0; i--) builder.addOffset(values[i]!)
  return builder.endVector()
}
