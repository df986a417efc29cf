import type { paths } from '../openapi/worker-api.ts'

/** The record of a job of any task; `taskName` determines the type of `result`. */
export type AnyJob = paths['/jobs/{taskName}/{job_id}']['get']['responses'][200]['content']['application/json']

export type TaskName = AnyJob['taskName']

const TASKS = {
  osmImportArea: true,
  overtureImportArea: true,
  ogr2ogrImport: true,
  createGeoEmbeddings: true,
  createSraiEmbeddings: true,
  importEmbeddings: true,
  archiveToPmtiles: true,
  exportTable: true,
  osmUpdateArea: true,
  trainClassifier: true,
  classifyEmbeddings: true,
  clusterEmbeddings: true,
} satisfies Record<TaskName, true>

/** Names of all tasks. */
export const TASK_NAMES: readonly TaskName[] = Object.keys(TASKS) as TaskName[]

/** The record of a job of one task. */
export type JobOf<Name extends TaskName> = Extract<AnyJob, { taskName: Name }>

/** Result of a task. */
export type ResultOf<Name extends TaskName> = NonNullable<JobOf<Name>['result']>

/** Input of a task. */
export type InputOf<Name extends TaskName> =
  paths[`/jobs/${Name}`]['post']['requestBody']['content']['application/json']

/** Progress of a job. */
export type JobProgress = NonNullable<AnyJob['progress']>
