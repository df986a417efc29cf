import { Type, type Static } from 'typebox'
import { aoiGeoJson } from '../aoi.ts'
import { identifier } from '../identifiers.ts'
import { importMode } from '../import-mode.ts'
import { OsmStyle } from './osm-style.ts'
import { taskFields } from './task-fields.ts'

/** Topics of an import; `all` is every feature by geometry: points, lines, multipolygons, multilinestrings. */
export const OSM_TOPICS = [
  'buildings',
  'streets',
  'railways',
  'waterways',
  'water',
  'landuse',
  'natural',
  'places',
  'pois',
  'boundaries',
  'transit',
  'addresses',
  'routes',
  'barriers',
  'power',
  'traffic',
  'entrances',
  'man_made',
  'all',
] as const

/** Sources of a file. */
export const OSM_FILE_SOURCES = [
  Type.Object(
    { kind: Type.Literal('file'), path: Type.String({ minLength: 1, maxLength: 4000 }) },
    { additionalProperties: false, description: 'A file under the data roots of the worker.' },
  ),
  Type.Object(
    { kind: Type.Literal('url'), url: Type.String({ minLength: 1, maxLength: 4000 }) },
    { additionalProperties: false, description: 'A file to download.' },
  ),
  Type.Object(
    {
      kind: Type.Literal('storage'),
      bucket: Type.String({ minLength: 1, maxLength: 100 }),
      path: Type.String({ minLength: 1, maxLength: 1024 }),
    },
    { additionalProperties: false, description: 'A file in the storage of the project.' },
  ),
] as const

const OSM_SOURCES = [
  ...OSM_FILE_SOURCES,
  Type.Object(
    { kind: Type.Literal('geofabrik') },
    {
      additionalProperties: false,
      description: 'The smallest Geofabrik extract that contains the area; kept and renewed by the worker.',
    },
  ),
  Type.Object(
    { kind: Type.Literal('overpass') },
    {
      additionalProperties: false,
      description: 'The Overpass server of the worker, for small areas; off unless the operator names one.',
    },
  ),
] as const

const SOURCE = {
  description: 'Where the data, a PBF or XML file, come from. Default: the source that the worker is configured with.',
}

const OsmSource = Type.Union([...OSM_SOURCES], SOURCE)
export type OsmSource = Static<typeof OsmSource>

const TablesSource = Type.Object(
  {
    kind: Type.Literal('tables'),
    prefix: identifier('tablePrefix of the import.'),
  },
  { additionalProperties: false, description: 'The tables that osmImportArea made in this project.' },
)

/** The sources of map features: of OpenStreetMap, or tables imported from there. */
export const FeatureSource = Type.Union([...OSM_SOURCES, TablesSource], SOURCE)
export type FeatureSource = Static<typeof FeatureSource>

/** Body of `POST /jobs/osmImportArea`. */
export const OsmImportArea = Type.Object(
  {
    areaName: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the area, for people.' }),
    aoiGeoJson: aoiGeoJson(),
    topics: Type.Optional(
      Type.Union(
        [
          Type.Array(Type.Enum([...OSM_TOPICS]), {
            minItems: 1,
            maxItems: OSM_TOPICS.length,
            uniqueItems: true,
            title: 'Topics',
          }),
          OsmStyle,
        ],
        { description: 'Topics to import, or a style: tables of your own. Default: all topics except "all".' },
      ),
    ),
    tablePrefix: Type.Optional(identifier('Tables are named {tablePrefix}_{topic}. Default: made from areaName.')),
    mode: importMode(),
    source: Type.Optional(OsmSource),
    clip: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Cut features at the border of the area, instead of keeping them whole.',
      }),
    ),
    updatable: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Keep what osmUpdateArea needs: about four times the bytes of the extract, whose elements must be sorted.',
      }),
    ),
    ...taskFields(),
  },
  { additionalProperties: false, title: 'OsmImportArea' },
)
export type OsmImportArea = Static<typeof OsmImportArea>
