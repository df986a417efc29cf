import { Type, type Static } from 'typebox'
import { PROJECT_REF_PATTERN } from './names.ts'

/** Project of a job on the shared pool, with its credentials if the pool accepts them. */
export const ProjectTarget = Type.Object(
  {
    projectRef: Type.String({ pattern: PROJECT_REF_PATTERN, description: 'The project the job belongs to.' }),
    databaseUrl: Type.Optional(
      Type.String({ pattern: '^postgres(ql)?://', maxLength: 2000, description: 'Sealed at once, never returned.' }),
    ),
    serviceRoleKey: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4000, description: 'Sealed at once, never returned.' }),
    ),
    storageUrl: Type.Optional(
      Type.String({ pattern: '^https?://', maxLength: 2000, description: 'Base of the storage API of the project.' }),
    ),
  },
  { additionalProperties: false, description: 'Required on the shared pool.' },
)
export type ProjectTarget = Static<typeof ProjectTarget>
