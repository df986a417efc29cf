import type { AttributeStats } from './features/attributes.ts'
import { LINE, POINT } from './features/shape.ts'

/** A layer in the metadata. */
export interface DescribedLayer {
  readonly name: string
  readonly minZoom: number
  readonly maxZoom: number
  readonly features: number
  readonly kinds: ReadonlySet<number>
  readonly attributes: readonly AttributeStats[]
}

export interface ArchiveTexts {
  readonly name?: string
  readonly description?: string
  readonly attribution?: string
}

/** One layer in the form of TileJSON's `vector_layers`. */
export interface VectorLayer {
  readonly id: string
  readonly description: string
  readonly minzoom: number
  readonly maxzoom: number
  readonly fields: Record<string, 'String' | 'Number' | 'Boolean' | 'Mixed'>
}

/** The JSON of an archive: TileJSON 3.0's `vector_layers`, statistics for viewers, and texts. */
export function describeArchive(layers: readonly DescribedLayer[], texts: ArchiveTexts): Record<string, unknown> {
  const shown = layers.map((layer) => ({
    ...layer,
    attributes: layer.attributes.filter(({ type }) => type !== 'null'),
  }))
  return {
    name: texts.name ?? layers.map(({ name }) => name).join(', '),
    description: texts.description ?? '',
    version: '1',
    type: 'overlay',
    ...(texts.attribution === undefined ? {} : { attribution: texts.attribution }),
    generator: 'terrane',
    vector_layers: shown.map((layer) => describeLayer(layer, layers.length === 1 ? texts.description : undefined)),
    tilestats: {
      layerCount: layers.length,
      layers: shown.map(({ name, features, kinds, attributes }) => ({
        layer: name,
        count: features,
        geometry: geometryName(kinds),
        attributeCount: attributes.length,
        attributes,
      })),
    },
  }
}

function describeLayer({ name, minZoom, maxZoom, attributes }: DescribedLayer, description = ''): VectorLayer {
  return {
    id: name,
    description,
    minzoom: minZoom,
    maxzoom: maxZoom,
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
