import { Type, type Static } from 'typebox'
import { named, nullable } from './named.ts'

/**
 * The error body of every interface but routing: problem details (RFC 9457) that also carry the fields PostgREST and
 * supabase-js clients read (`code`, `message`, `hint`, `details`).
 */
export const Problem = named(
  'Problem',
  Type.Object(
    {
      type: Type.String({ description: 'urn:terrane:problem:{code}' }),
      title: Type.String(),
      status: Type.Integer(),
      detail: Type.String(),
      instance: Type.String({ description: 'The request id; quote it when asking for help.' }),
      code: Type.String({ description: 'Stable and greppable.' }),
      message: Type.String({ description: 'The same text as detail.' }),
      hint: nullable(Type.String()),
      details: nullable(Type.String()),
      errors: Type.Array(
        Type.Object({
          path: Type.String({ description: 'JSON pointer into the input.' }),
          message: Type.String(),
        }),
        { description: 'One entry per offending field.' },
      ),
    },
    { description: 'What went wrong and what to do about it.' },
  ),
)
export type Problem = Static<typeof Problem>
