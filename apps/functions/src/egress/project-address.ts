import type { Project } from '../projects/project.ts'

/** Address of a project's API, and the keys that privileged functions may use. */
export type ProjectAddress = Pick<
  Project,
  'apiUrl' | 'publicUrl' | 'serviceKey' | 'servicesKey' | 'verify' | 'publicKeys'
>
