import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import type { QueryEmbedder } from '../embed/query-embedder.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'
import { scopeKey } from '../queue/job-row.ts'
import { principalOf } from './access.ts'
import { guarded } from './guarded.ts'

/** The project of a caller, and vectors of its texts. */
export interface EmbedTextDeps {
  readonly projects: Pick<ProjectDirectory, 'scope'>
  readonly queries: Pick<QueryEmbedder, 'words'>
}

const Body = Type.Object(
  {
    modelName: Type.String({ minLength: 1, maxLength: 200, description: 'A model with a text part.' }),
    text: Type.String({
      minLength: 1,
      maxLength: 20_000,
      description: 'Refused, not cut, beyond the tokens of the model.',
    }),
    projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })),
  },
  { additionalProperties: false },
)

const Answer = Type.Object({
  model: Type.String(),
  dims: Type.Integer(),
  embedding: Type.Array(Type.Number(), { description: 'Of unit length.' }),
})

/** `POST /embed/text`: a text as a vector of a model. */
export function embedTextRoute(app: Http, { projects, queries }: EmbedTextDeps): void {
  app.post(
    '/embed/text',
    guarded('worker', {
      operationId: 'embedWords',
      summary: 'A text as a vector',
      description: 'Embeds a text with the text part of a model. `Supabase.ai.Session` of functions uses it.',
      body: Body,
      response: { 200: Answer },
    }),
    async (request) => {
      const { modelName, text, projectRef } = request.body
      const scope = await projects.scope(principalOf(request), projectRef, '/projectRef')
      const vector = await queries.words({ key: scopeKey(scope) }, modelName, text)
      return { model: modelName, dims: vector.length, embedding: Array.from(vector) }
    },
  )
}
