import { defineError } from '@terrane/core'

export const notABackup = defineError(
  'NOT_A_BACKUP',
  'invalid',
  () => 'There is no complete backup of this version here',
  () => ({ hint: 'Name the folder or bucket of the backup: the value of --to when it was made.' }),
)

export const backupDamaged = defineError(
  'BACKUP_DAMAGED',
  'invalid',
  (f: { part: string }) => `The backup is damaged: ${f.part} is missing or differs from what was written`,
  () => ({ hint: 'Nothing was restored. Take another backup.' }),
)

export const placeTaken = defineError(
  'PLACE_TAKEN',
  'conflict',
  (f: { place: string }) => `${f.place} is not empty`,
  () => ({ hint: 'Name an empty folder or prefix. Existing backups are not overwritten.' }),
)
