import type { AttributeStats } from './features/attributes.ts'
import type { IntakeStats } from './features/feature-intake.ts'
import { LINE, POINT } from './features/shape.ts'

export interface MetadataFields {
  readonly layer: string
  readonly minZoom: number
  readonly maxZoom: number
  readonly name?: string
  readonly description?: string
  readonly attribution?: string
}

/** One layer as TileJSON's `vector_layers` describes it. */
export interface VectorLayer {
  readonly id: string
  readonly description: string
  readonly minzoom: number
  readonly maxzoom: number
  readonly fields: Record<string, 'String' | 'Number' | 'Boolean' | 'Mixed'>
}

/** The JSON of an archive: TileJSON 3.0's `vector_layers`, statistics for viewers, and texts. */
export function describeArchive(stats: IntakeStats, fields: MetadataFields): Record<string, unknown> {
  const attributes = stats.attributes.filter(({ type }) => type !== 'null')
  return {
    name: fields.name ?? fields.layer,
    description: fields.description ?? '',
    version: '1',
    type: 'overlay',
    ...(fields.attribution === undefined ? {} : { attribution: fields.attribution }),
    generator: 'terrane',
    vector_layers: [describeLayer(attributes, fields)],
    tilestats: {
      layerCount: 1,
      layers: [
        {
          layer: fields.layer,
          count: stats.features,
          geometry: geometryName(stats.kinds),
          attributeCount: attributes.length,
          attributes,
        },
      ],
    },
  }
}

function describeLayer(attributes: readonly AttributeStats[], fields: MetadataFields): VectorLayer {
  return {
    id: fields.layer,
    description: fields.description ?? '',
    minzoom: fields.minZoom,
    maxzoom: fields.maxZoom,
    fields: Object.fromEntries(attributes.map(({ attribute, type }) => [attribute, fieldType(type)])),
  }
}

function fieldType(type: AttributeStats['type']): 'String' | 'Number' | 'Boolean' | 'Mixed' {
  if (type === 'number') return 'Number'
  if (type === 'boolean') return 'Boolean'
  return type === 'mixed' ? 'Mixed' : 'String'
}

/** The geometry of most features, as tilestats names it. */
function geometryName(kinds: ReadonlySet<number>): string {
  if (kinds.has(POINT)) return 'Point'
  return kinds.has(LINE) ? 'LineString' : 'Polygon'
}
