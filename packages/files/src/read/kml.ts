import { geoJsonType, wkbOfGeoJson } from '@terrane/core/wkb'
import { Warnings } from '@terrane/core/errors'
import { conversionFailed } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field, type FieldType } from '../feature-stream.ts'
import { KmlDocument, type Placemark } from './kml-document.ts'
import { TypeGuess, kindOfCell, valueOfCell } from './value-types.ts'
import { parseXml } from './xml.ts'

const WGS84 = 4326

/** Columns of every layer, in this order: the same as of GDAL's LIBKML driver. */
const FIXED: readonly Field[] = [
  { name: 'id', type: 'text' },
  { name: 'Name', type: 'text' },
  { name: 'description', type: 'text' },
  { name: 'timestamp', type: 'timestamptz' },
  { name: 'begin', type: 'timestamptz' },
  { name: 'end', type: 'timestamptz' },
  { name: 'altitudeMode', type: 'text' },
  { name: 'tessellate', type: 'int4' },
  { name: 'extrude', type: 'int4' },
  { name: 'visibility', type: 'int4' },
  { name: 'drawOrder', type: 'int4' },
  { name: 'icon', type: 'text' },
]

/** Types of the fields that a Schema declares (OGC 12-007r2, kml:SimpleField). */
const SCHEMA_TYPES: Readonly<Record<string, FieldType>> = {
  int: 'int4',
  uint: 'int8',
  short: 'int2',
  ushort: 'int4',
  float: 'float8',
  double: 'float8',
  bool: 'bool',
}

interface KmlLayer {
  readonly name: string
  rows: number
  readonly types: Set<number>
  /** Fields of the user by name, with the type that a schema declares or that all values have. */
  readonly fields: Map<string, { declared: FieldType | null; guess: TypeGuess }>
}

/**
 * Opens KML (OGC 12-007r2): a layer for each folder or document that holds placemarks of its own.
 *
 * @throws CONVERSION_FAILED
 */
export async function openKml(path: string): Promise<FeatureReader> {
  const warnings = new Warnings()
  const layers = new Map<number, KmlLayer>()
  const taken = new Set<string>()
  const document = new KmlDocument((placemark) => {
    let layer = layers.get(placemark.container)
    if (!layer) {
      const base = placemark.containerName || 'placemarks'
      let name = base
      for (let i = 2; taken.has(name); i++) name = `${base} (#${i})`
      taken.add(name)
      layers.set(placemark.container, (layer = { name, rows: 0, types: new Set(), fields: new Map() }))
    }
    survey(layer, placemark, document)
  }, warnings)
  await parseXml(path, document)
  if (layers.size === 0) {
    throw conversionFailed({ reason: 'it has no placemarks, only styles, overlays or links to other files' })
  }
  const list = [...layers].map(([container, layer]) => ({ container, layer, fields: fieldsOf(layer) }))
  return {
    layers: list.map(({ layer: { name, rows, types }, fields }) => {
      return { name, rows, fields, hasGeometry: true, geometryTypes: [...types], srid: WGS84 }
    }),
    read: (index) => readRows(path, list[index]!.container, list[index]!.fields, warnings),
    takeWarnings: () => warnings.take(),
  }
}

async function* readRows(
  path: string,
  container: number,
  fields: readonly Field[],
  warnings: Warnings,
): AsyncGenerator<FeatureBatch> {
  const builder = new BatchBuilder(fields.length)
  const full: FeatureBatch[] = []
  let row = 0
  const document = new KmlDocument((placemark) => {
    if (placemark.container !== container) return
    row++
    const wkb = placemark.geometry ? wkbOfGeoJson(placemark.geometry) : null
    if (wkb === null && placemark.hasGeometry) {
      warnings.count('GEOMETRY_UNREADABLE', 'Geometries that cannot be read were left out of their rows.', row)
    }
    builder.add(
      wkb,
      fields.map((field, i) => (i < FIXED.length ? placemark.fixed[field.name] : userValue(placemark, field))),
    )
    if (builder.isFull) full.push(builder.take())
  }, null)
  for await (const _ of parseXml.pieces(path, document)) yield* full.splice(0)
  yield* full
  if (!builder.isEmpty) yield builder.take()
}

function userValue({ data }: Placemark, { name, type }: Field): unknown {
  const text = data.get(name)
  if (text === undefined) return null
  if (type === 'bool') return /^(1|true)$/i.test(text.trim())
  return valueOfCell(type === 'text' ? text : text.trim(), type)
}

function survey(layer: KmlLayer, { data, geometry }: Placemark, document: KmlDocument): void {
  layer.rows++
  const type = geometry && geoJsonType(geometry)
  if (type) layer.types.add(type)
  for (const [name, text] of data) {
    let field = layer.fields.get(name)
    if (!field)
      layer.fields.set(
        name,
        (field = { declared: SCHEMA_TYPES[document.declared.get(name) ?? ''] ?? null, guess: new TypeGuess() }),
      )
    const kind = kindOfCell(text.trim())
    if (kind !== null) field.guess.addKind(kind)
  }
}

/** A field has its declared type if all values fit it. */
function fieldsOf({ fields }: KmlLayer): Field[] {
  const own = [...fields].map(([name, { declared, guess }]): Field => {
    const numbers = ['int2', 'int4', 'int8', 'float8']
    const fits =
      declared === 'bool'
        ? ['bool', 'int4', 'text']
        : declared === 'float8'
          ? numbers
          : declared && numbers.slice(0, numbers.indexOf(declared) + 1)
    const isKept = declared !== null && (fits || []).includes(guess.type)
    return { name, type: isKept ? (declared === 'bool' && guess.type === 'text' ? 'text' : declared) : 'text' }
  })
  return [...FIXED, ...own]
}
