import { Type } from 'typebox'
import { ProjectTarget } from '../project-target.ts'

/** Fields of the body of every task. */
export const taskFields = () => ({
  strict: Type.Optional(
    Type.Boolean({
      description: 'Fails the job on anything that would be a warning. Default: false.',
    }),
  ),
  projectTarget: Type.Optional(ProjectTarget),
})
