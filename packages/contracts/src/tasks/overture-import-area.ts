import { Type, type Static } from 'typebox'
import { aoiGeoJson } from '../aoi.ts'
import { identifier } from '../identifiers.ts'
import { importMode } from '../import-mode.ts'
import { taskFields } from './task-fields.ts'

const OVERTURE_TOPICS = ['buildings', 'places', 'transportation', 'base', 'divisions', 'addresses'] as const

const TYPES = [
  'address',
  'bathymetry',
  'building',
  'building_part',
  'connector',
  'division',
  'division_area',
  'division_boundary',
  'infrastructure',
  'land',
  'land_cover',
  'land_use',
  'place',
  'segment',
  'water',
] as const

/** Body of `POST /jobs/overtureImportArea`. */
export const OvertureImportArea = Type.Object(
  {
    areaName: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the area, for people.' }),
    aoiGeoJson: aoiGeoJson(),
    topics: Type.Optional(
      Type.Array(Type.Enum([...OVERTURE_TOPICS]), {
        minItems: 1,
        maxItems: OVERTURE_TOPICS.length,
        uniqueItems: true,
        description: 'Themes of Overture: all their types. Topics or types are needed.',
      }),
    ),
    types: Type.Optional(
      Type.Array(Type.Enum([...TYPES]), {
        minItems: 1,
        maxItems: TYPES.length,
        uniqueItems: true,
        description: 'Types of Overture.',
      }),
    ),
    tablePrefix: Type.Optional(
      identifier(
        'Tables are named {tablePrefix}_{type}, with _point, _line or _polygon where a type mixes geometries. Default: ' +
          'made from areaName.',
      ),
    ),
    mode: importMode(),
    release: Type.Optional(
      Type.String({
        maxLength: 40,
        pattern: '^\\d{4}-\\d{2}-\\d{2}(\\.\\d+)?$',
        description: 'An Overture release that is still published. Default: the latest.',
      }),
    ),
    ...taskFields(),
  },
  { additionalProperties: false, title: 'OvertureImportArea' },
)
export type OvertureImportArea = Static<typeof OvertureImportArea>
