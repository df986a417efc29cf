import type { OsmHeader } from '../block.ts'
import { osmMalformed, osmUnsupported } from '../errors.ts'
import { BYTES, VARINT, Wire } from './wire.ts'

/** Features a reader must support to read the file correctly; LocationsOnWays is optional by definition. */
const KNOWN_FEATURES = new Set(['OsmSchema-V0.6', 'DenseNodes', 'LocationsOnWays'])

/** Decodes a HeaderBlock. @throws OSM_UNSUPPORTED for a required feature that we lack, such as history */
export function decodeHeader(bytes: Uint8Array): OsmHeader {
  const required: string[] = []
  const optional: string[] = []
  let bbox: OsmHeader['bbox'] = null
  let writingProgram: string | null = null
  let source: string | null = null
  let timestamp: Date | null = null
  let replicationSequence: number | null = null
  let replicationUrl: string | null = null
  const wire = new Wire(bytes)
  while (wire.next()) {
    if (wire.is(1, BYTES)) bbox = decodeBbox(wire.message())
    else if (wire.is(4, BYTES)) required.push(wire.text())
    else if (wire.is(5, BYTES)) optional.push(wire.text())
    else if (wire.is(16, BYTES)) writingProgram = wire.text()
    else if (wire.is(17, BYTES)) source = wire.text()
    else if (wire.is(32, VARINT)) timestamp = new Date(wire.int64() * 1000)
    else if (wire.is(33, VARINT)) replicationSequence = wire.int64()
    else if (wire.is(34, BYTES)) replicationUrl = wire.text()
    else wire.skip()
  }
  for (const feature of required) {
    if (!KNOWN_FEATURES.has(feature)) throw osmUnsupported({ what: `it requires the feature "${feature}"` })
  }
  return {
    bbox,
    requiredFeatures: required,
    optionalFeatures: optional,
    writingProgram,
    source,
    timestamp: timestamp && Number.isNaN(timestamp.getTime()) ? null : timestamp,
    replicationSequence,
    replicationUrl,
    sorted: optional.includes('Sort.Type_then_ID'),
    remark: null,
  }
}

function decodeBbox(wire: Wire): readonly [number, number, number, number] | null {
  const nano: [number, number, number, number] = [Number.NaN, Number.NaN, Number.NaN, Number.NaN]
  while (wire.next()) {
    if (wire.field >= 1 && wire.field <= 4 && wire.type === VARINT) nano[wire.field - 1] = zigzag(wire)
    else wire.skip()
  }
  const [left, right, top, bottom] = nano
  const bbox = [left / 1e9, bottom / 1e9, right / 1e9, top / 1e9] as const
  if (bbox.some(Number.isNaN)) throw osmMalformed({ what: 'the bounding box of its header lacks a side' })
  return bbox
}

/** Decodes a zigzag number; coordinates of at most 1.8e11 nanodegrees are exact in doubles. */
function zigzag(wire: Wire): number {
  const value = wire.int64()
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}
