import { Type, type Static, type TSchema } from 'typebox'

/** A condition on tags. It is recursive, so `schemas/osm-style.json` describes it, and not the schema of a body. */
export type OsmFilter =
  | {
      readonly key: string
      readonly is?: string | string[]
      readonly isNot?: string | string[]
      readonly startsWith?: string
    }
  | { readonly has: string }
  | { readonly hasOther: string[] }
  | { readonly prefix: string }
  | { readonly all: OsmFilter[] }
  | { readonly any: OsmFilter[] }
  | { readonly not: OsmFilter }

const CLOSED = { additionalProperties: false } as const
const FILTER_ABOUT =
  'One of {"key": …} with "is", "isNot" or "startsWith", {"has": …}, {"hasOther": […]}, {"prefix": …}, {"all": […]}, {"any": […]}, {"not": {…}}.'

const name = (description: string) =>
  Type.String({ pattern: '^[a-z_][a-z0-9_]*$', minLength: 1, maxLength: 63, description })
const text = (description?: string) =>
  Type.String({ minLength: 1, maxLength: 255, ...(description && { description }) })
const list = <Item extends TSchema>(item: Item, maxItems: number, description?: string, more: object = {}) =>
  Type.Array(item, { minItems: 1, maxItems, ...(description && { description }), ...more })
const metres = (description: string) => Type.Number({ exclusiveMinimum: 0, maximum: 1e12, description })

const ColumnDefinition = Type.Object(
  {
    name: name('Name of the column.'),
    key: Type.Optional(text('Key of the value. Default: the name of the column.')),
    keys: Type.Optional(list(text(), 1000, 'The first of these keys that is there.')),
    prefix: Type.Optional(text('All tags whose keys begin so, as JSON: "name:" gives the names by language.')),
    value: Type.Optional(
      Type.Enum(
        ['tags', 'matchedKey', 'matchedValue', 'fromArea', 'length', 'area', 'members', 'way', 'role', 'direction'],
        { description: 'A value that is not that of a tag.' },
      ),
    ),
    type: Type.Optional(
      Type.Enum(['text', 'integer', 'number', 'metres', 'kmh', 'flag', 'bool', 'oneway', 'json'], {
        default: 'text',
        description: 'What the column holds, and so how the text of the tag is read.',
      }),
    ),
    map: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 255 }), Type.Union([text(), Type.Null()]), {
        maxProperties: 1000,
        description: 'Other values for some; "*" is any other one, null is no value.',
      }),
    ),
    split: Type.Optional(text('Separator of a list: json holds its entries, other types the first one.')),
    default: Type.Optional(
      Type.Union([Type.String({ maxLength: 255 }), Type.Number(), Type.Boolean()], {
        description: 'In place of null.',
      }),
    ),
  },
  { ...CLOSED, title: 'Column' },
)

const Filter = Type.Unsafe<OsmFilter>({ type: 'object', minProperties: 1, maxProperties: 2, description: FILTER_ABOUT })

const GeneralizedTable = Type.Object(
  {
    name: name('The table is called {tablePrefix}_{name}.'),
    toleranceMetres: Type.Optional(metres('Most that a line moves by, in metres on the ground.')),
    minLengthMetres: Type.Optional(metres('Shorter lines are left out.')),
    minAreaMetres2: Type.Optional(metres('Smaller areas are left out.')),
    where: Type.Optional(Filter),
  },
  CLOSED,
)
const StyleTable = Type.Object(
  {
    name: name('The table is called {tablePrefix}_{name}.'),
    geometry: Type.Enum(['point', 'linestring', 'multilinestring', 'multipolygon']),
    from: list(
      Type.Enum(['node', 'line', 'area', 'route', 'waterway', 'relation', 'member']),
      7,
      'Elements that give rows: nodes, ways, areas, the lines of relations (of routes, waterways, any), the ways of relations.',
      { uniqueItems: true },
    ),
    where: Type.Optional(Filter),
    areas: Type.Optional(
      Type.Union([Type.Enum(['byKey', 'byAnyKey', 'all']), Filter], {
        description: 'Closed ways that are areas. Default: "byKey", by area=yes or by the keys that they have.',
      }),
    ),
    lines: Type.Optional(
      Type.Enum(['notAreaYes', 'notAreas', 'all'], {
        default: 'notAreaYes',
        description: 'Closed ways that are lines.',
      }),
    ),
    columns: list(
      Type.Union([name('The text of the key of that name.'), ColumnDefinition]),
      100,
      'Columns besides id, osm_type, osm_id and geom.',
    ),
    generalized: Type.Optional(list(GeneralizedTable, 64, 'Tables of fewer and simpler rows, for low zooms.')),
  },
  CLOSED,
)

/** A style: the tables of an import, as data. */
export const OsmStyle = Type.Object(
  {
    $schema: Type.Optional(Type.String({ maxLength: 1000, description: 'For editors.' })),
    tables: list(StyleTable, 64),
  },
  { ...CLOSED, title: 'Style', description: 'Tables of your own.' },
)
export type OsmStyle = Static<typeof OsmStyle>
