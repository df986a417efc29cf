import { defineError } from '@terrane/core'

export const importNotFound = defineError(
  'OSM_IMPORT_NOT_FOUND',
  'not_found',
  (f: { prefix: string }) => `There are no tables ${f.prefix}_… of an import that can be updated`,
  () => ({
    hint: 'Import them with osmImportArea and updatable, or name the tablePrefix of such an import.',
    errors: [{ path: '/tablePrefix', message: 'must be that of an import with updatable' }],
  }),
)

export const importOutdated = defineError(
  'OSM_IMPORT_OUTDATED',
  'conflict',
  (f: { prefix: string }) => `The tables ${f.prefix}_… were made by a version with other rules`,
  () => ({ hint: 'Import them again with mode replace.' }),
)

export const updateOvertaken = defineError(
  'OSM_UPDATE_OVERTAKEN',
  'conflict',
  (f: { prefix: string }) => `Another job has changed the tables ${f.prefix}_… in the meantime`,
  () => ({ hint: 'Wait until it has ended, then update again.' }),
)

export const replicationUnknown = defineError(
  'OSM_REPLICATION_UNKNOWN',
  'invalid',
  () => 'The extract names no replication server to update from',
  () => ({ hint: 'Send its URL, or change files.', errors: [{ path: '/source/url', message: 'is needed' }] }),
)

export const replicationUrlInvalid = defineError(
  'OSM_REPLICATION_URL_INVALID',
  'invalid',
  () => 'The URL of a replication server must name a folder and have no query',
  () => ({ errors: [{ path: '/source/url', message: 'must be the folder of state.txt' }] }),
)

export const replicationBroken = defineError(
  'OSM_REPLICATION_BROKEN',
  'upstream',
  (f: { file: string; reason: string }) => `The replication server's ${f.file} cannot be used: ${f.reason}`,
  () => ({ hint: 'Check the URL, or import a newer extract with mode replace.' }),
)

export const startUnknown = defineError(
  'OSM_REPLICATION_START_UNKNOWN',
  'invalid',
  () => 'The extract states neither its time nor its place in the replication',
  () => ({ hint: 'Import an extract that states its time, or update from change files.' }),
)
