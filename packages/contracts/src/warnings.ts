import { Type, type Static } from 'typebox'

/** A warning of a successful job: a kind of data that was left out or changed, with the reason. */
export const JobWarning = Type.Object({
  code: Type.String({ description: 'Upper case, stable.' }),
  message: Type.String(),
  layer: Type.Optional(Type.String({ description: 'Layer of the file, where it is about one.' })),
  count: Type.Optional(Type.Integer({ minimum: 0, description: 'How many rows, features or values it is about.' })),
  examples: Type.Optional(
    Type.Array(Type.Union([Type.Integer(), Type.String()]), {
      maxItems: 10,
      description: 'The first of them: row numbers from 1, or names.',
    }),
  ),
})
export type JobWarning = Static<typeof JobWarning>
