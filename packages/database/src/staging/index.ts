export {
  STAGING_SCHEMA,
  appliedResult,
  dropStaging,
  lockNames,
  relationExists,
  stagedTable,
  swapIn,
} from './staging.ts'
export type { StagedTable } from './staging.ts'
export { beginRun, closeRuns, holdRun } from './job-runs.ts'
export type { JobRun } from './job-runs.ts'
export { dropCheckpoint, keepCheckpoint, takeOver } from './checkpoints.ts'
export { tableExists } from '../errors.ts'
