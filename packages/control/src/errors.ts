import { defineError, type FieldError } from '@terrane/core'

export const projectNotFound = defineError(
  'PROJECT_NOT_FOUND',
  'not_found',
  (f: { ref: string }) => `There is no project '${f.ref}'`,
  () => ({ hint: 'Projects of other organizations are not found either.' }),
)

export const projectAmbiguous = defineError(
  'PROJECT_AMBIGUOUS',
  'conflict',
  (f: { ref: string; ids: readonly string[] }) => `Several organizations have a project '${f.ref}'`,
  (f) => ({ hint: `Name it by its id: ${f.ids.join(', ')}.` }),
)

export const projectExists = defineError(
  'PROJECT_EXISTS',
  'conflict',
  (f: { ref: string }) => `The organization has a project '${f.ref}' already`,
  () => ({ hint: 'Change its settings with `terrane project set`.' }),
)

export const projectBusy = defineError(
  'PROJECT_BUSY',
  'conflict',
  (f: { ref: string; jobs: number }) => `Project '${f.ref}' has ${f.jobs} jobs that have not ended`,
  () => ({ hint: 'Wait for them or cancel them first.' }),
)

export const refInvalid = defineError(
  'PROJECT_REF_INVALID',
  'invalid',
  (f: { ref: string }) => `'${f.ref}' is not a project reference`,
  () => ({ hint: 'A reference has 1 to 63 of a-z, 0-9, - and _, and begins with a letter or digit.' }),
)

export const organizationNotFound = defineError(
  'ORGANIZATION_NOT_FOUND',
  'not_found',
  (f: { organization: string }) => `There is no organization '${f.organization}'`,
  () => ({ hint: '`terrane org list` shows the organizations.' }),
)

export const organizationAmbiguous = defineError(
  'ORGANIZATION_AMBIGUOUS',
  'conflict',
  (f: { organization: string; ids: readonly string[] }) => `Several organizations are named '${f.organization}'`,
  (f) => ({ hint: `Name it by its id: ${f.ids.join(', ')}.` }),
)

export const keyNotFound = defineError(
  'KEY_NOT_FOUND',
  'not_found',
  (f: { key: string }) => `No single key matches '${f.key}'`,
  () => ({ hint: 'Name it by its id, or by a unique prefix of the key; `terrane key list` shows both.' }),
)

export const keyEnded = defineError(
  'KEY_ENDED',
  'conflict',
  (f: { id: string }) => `Key ${f.id} has expired or was revoked`,
  () => ({ hint: 'Make a new one with `terrane key create`.' }),
)

export const keyNotIssued = defineError(
  'KEY_NOT_ISSUED',
  'conflict',
  (f: { id: string; by: string }) => `Key ${f.id} was not issued here but registered by ${f.by}`,
  () => ({ hint: 'Change it where it comes from: the environment of the stack, or `terrane project set`.' }),
)

export const keysUnavailable = defineError(
  'KEYS_UNAVAILABLE',
  'unavailable',
  () => 'Keys cannot be looked up at the moment',
  () => ({
    hint: 'The same call may succeed in some seconds. The cause is in the log of the server.',
  }),
)

export const secretsKeyNeeded = defineError(
  'SECRETS_KEY_MISSING',
  'invalid',
  (f: { for: string }) => `No key to encrypt or decrypt ${f.for}`,
  () => ({ hint: 'Set TERRANE_SECRETS_KEY (32 bytes, hex or base64), the same for all apps.' }),
)

export const credentialsUnreadable = defineError(
  'CREDENTIALS_UNREADABLE',
  'internal',
  (f: { ref: string; part: string }) =>
    `The credentials of project '${f.ref}' are stored in the format of an early version (${f.part})`,
  () => ({ hint: 'Set its credentials again with `terrane project set`.' }),
)

export const credentialsInvalid = defineError(
  'CREDENTIALS_INVALID',
  'invalid',
  (f: { errors: readonly FieldError[] }) =>
    `The settings of the project are not valid: ${f.errors.map((e) => `${e.path} ${e.message}`).join('; ')}`,
  (f) => ({ errors: f.errors }),
)
