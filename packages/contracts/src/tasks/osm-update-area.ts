import { Type, type Static } from 'typebox'
import { identifier } from '../identifiers.ts'
import { OSM_FILE_SOURCES } from './osm-import-area.ts'
import { taskFields } from './task-fields.ts'

const MOST_FILES = 1000

/** Body of `POST /jobs/osmUpdateArea`. */
export const OsmUpdateArea = Type.Object(
  {
    tablePrefix: identifier('Prefix of the tables of an osmImportArea with updatable.'),
    source: Type.Optional(
      Type.Union(
        [
          Type.Object(
            {
              kind: Type.Literal('replication'),
              url: Type.Optional(
                Type.String({
                  minLength: 1,
                  maxLength: 4000,
                  description: 'Folder with state.txt, of minutes, hours or days.',
                }),
              ),
            },
            {
              additionalProperties: false,
              description:
                'Everything newer of a replication server. Default of url: the one before, or what the extract names.',
            },
          ),
          Type.Object(
            {
              kind: Type.Literal('files'),
              files: Type.Array(Type.Union([...OSM_FILE_SOURCES]), { minItems: 1, maxItems: MOST_FILES }),
            },
            { additionalProperties: false, description: 'Change files (.osc, .osc.gz), in the order of their time.' },
          ),
        ],
        { description: 'Where the changes come from. Default: replication.' },
      ),
    ),
    ...taskFields(),
  },
  { additionalProperties: false, title: 'OsmUpdateArea' },
)
export type OsmUpdateArea = Static<typeof OsmUpdateArea>
