import { Type, type Static } from 'typebox'
import { existingName } from './identifiers.ts'
import { named } from './named.ts'

const search = {
  tableName: existingName('The embedding table to search, whose model is used.'),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1000, default: 10, description: 'Most rows; 0 gives the vector alone.' }),
  ),
  label: Type.Optional(
    Type.String({ maxLength: 1000, pattern: '^[^\\u0000]*$', description: 'Only rows with this label_name.' }),
  ),
  projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })),
}

/** Body of `POST /embed`. */
export const EmbedText = Type.Object(
  { ...search, text: Type.String({ minLength: 1, maxLength: 2000, description: 'Words for what is searched.' }) },
  { additionalProperties: false },
)
export type EmbedText = Static<typeof EmbedText>

/** Query of `POST /embed/chip`, whose body is the picture. */
export const EmbedChip = Type.Object(
  {
    ...search,
    rescale: Type.Optional(
      Type.String({
        maxLength: 400,
        description:
          'Of a PNG: the stored values that 0 and 255 stand for, min,max for all colours or for each, as shown.rescale of ' +
          '/raster/v1/info has them. A PNG of /raster/v1 says so itself.',
      }),
    ),
    datetime: Type.Optional(
      Type.String({ format: 'date-time', description: 'When the picture was taken, for models that ask.' }),
    ),
  },
  { additionalProperties: false },
)
export type EmbedChip = Static<typeof EmbedChip>

/** A query as a vector, and the rows most like it. */
export const EmbeddedQuery = named(
  'EmbeddedQuery',
  Type.Object({
    table: Type.String(),
    model: Type.String(),
    dims: Type.Integer(),
    embedding: Type.Array(Type.Number(), { description: 'Of unit length, in the space of the table.' }),
    rows: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of a row, as text: it may have more digits than a JavaScript number.' }),
        similarity: Type.Number(),
      }),
      { description: 'Best first.' },
    ),
  }),
)
export type EmbeddedQuery = Static<typeof EmbeddedQuery>
