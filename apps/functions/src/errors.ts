import { defineError, type FieldError } from '@terrane/core'

export const invalidPolicy = defineError(
  'FUNCTION_POLICY_INVALID',
  'invalid',
  (f: { errors: readonly FieldError[] }) =>
    `function.json is not acceptable: ${f.errors.map((e) => `${e.path.slice(1) || 'the file'} ${e.message}`).join('; ')}`,
  (f) => ({ errors: f.errors, hint: 'Unknown fields are refused; the README lists the known ones.' }),
)

export const nameInvalid = defineError(
  'FUNCTION_NAME_INVALID',
  'invalid',
  (f: { name: string }) =>
    `The folder '${f.name}' is not served: a function's name has 1 to 63 of A-Z, a-z, 0-9, - and _, and begins with a letter or digit`,
  () => ({ hint: 'Rename the folder.' }),
)

export const buildLimit = defineError(
  'FUNCTION_BUILD_LIMIT',
  'invalid',
  (f: { what: string }) => `The function cannot be bundled within ${f.what}`,
  () => ({ hint: 'Check for generated code, very deep nesting or very large literals; deploy data as static files.' }),
)

export const filesNotStill = defineError(
  'FUNCTION_FILES_NOT_STILL',
  'unavailable',
  (f: { name: string }) => `The files of '${f.name}' keep changing; it is served when they stop changing`,
  () => ({ hint: 'Find the program that writes into this folder, and let it write elsewhere.' }),
)

export const archiveInvalid = defineError(
  'FUNCTION_ARCHIVE_INVALID',
  'internal',
  (f: { reason: string }) => `A stored function version is damaged: ${f.reason}`,
)

export const runtimeUnavailable = defineError(
  'FUNCTION_RUNTIME_UNAVAILABLE',
  'unavailable',
  (f: { problem: string; remedy: string }) => `Functions cannot run here: ${f.problem}`,
  (f) => ({ hint: f.remedy }),
)

export const missingSecrets = defineError(
  'FUNCTION_SECRETS_MISSING',
  'invalid',
  (f: { names: readonly string[] }) => `function.json names secrets that do not exist: ${f.names.join(', ')}`,
  () => ({ hint: 'Set them, or take them out of "secrets".' }),
)

export const secretOutdated = defineError(
  'FUNCTION_SECRET_OUTDATED',
  'conflict',
  (f: { names: readonly string[] }) =>
    `These secrets were encrypted by an early version and cannot be used: ${f.names.join(', ')}`,
  () => ({ hint: 'Set them again, or delete them.' }),
)

export const bootFailed = defineError(
  'FUNCTION_BOOT_FAILED',
  'invalid',
  (f: { reason: string; detail: string }) => `The function does not start: ${f.reason}`,
  (f) => ({ ...(f.detail !== '' && { details: f.detail }), hint: 'The previous version stays live.' }),
)

export const keyNotPrivileged = defineError(
  'FUNCTION_NOT_PRIVILEGED',
  'forbidden',
  (f: { name: string }) => `The function '${f.name}' may not use the service role`,
  () => ({ hint: 'Set "privileged" to true or "key" in function.json.' }),
)

export const deployConflict = defineError(
  'FUNCTION_DEPLOY_CONFLICT',
  'conflict',
  (f: { name: string }) => `Another deploy has changed '${f.name}' since this one began`,
  () => ({ hint: 'Check which version is live, then deploy again.' }),
)

export const functionNotFound = defineError(
  'FUNCTION_NOT_FOUND',
  'not_found',
  (f: { name: string }) => `There is no function '${f.name}'`,
)

export const versionNotFound = defineError(
  'FUNCTION_VERSION_NOT_FOUND',
  'not_found',
  (f: { name: string; version: number | null }) =>
    f.version === null ? `'${f.name}' has no earlier version` : `'${f.name}' has no version ${f.version}`,
)

export const projectNotFound = defineError(
  'PROJECT_NOT_FOUND',
  'not_found',
  (f: { ref: string }) => `There is no project '${f.ref}'`,
)

export const stateStays = defineError(
  'FUNCTION_STATE_STAYS',
  'unavailable',
  (f: { name: string; reason: string }) =>
    `The state of the function '${f.name}' could not be moved or deleted: ${f.reason}`,
  () => ({
    hint: 'Try again when the API of the project can be reached: a function of this name would read the state.',
  }),
)

export const nameTaken = defineError(
  'FUNCTION_NAME_TAKEN',
  'conflict',
  (f: { name: string }) => `A function '${f.name}' exists already`,
)

export const secretInvalid = defineError(
  'FUNCTION_SECRET_INVALID',
  'invalid',
  (f: { errors: readonly FieldError[] }) => `${f.errors[0]!.path.slice(1)} ${f.errors[0]!.message}`,
  (f) => ({ errors: f.errors }),
)

export const hardenedRequired = defineError(
  'FUNCTION_HARDENED_REQUIRED',
  'invalid',
  () => 'TERRANE_MODE=shared runs untrusted code and needs TERRANE_FUNCTIONS_PROFILE=hardened',
  () => ({ hint: 'Install bubblewrap and set the profile, or serve one project with TERRANE_MODE=local.' }),
)

export const registryMissing = defineError(
  'FUNCTION_REGISTRY_MISSING',
  'not_implemented',
  () => 'This host serves a folder and has no registry',
  () => ({ hint: 'Set DATABASE_URL to deploy to it.' }),
)

export const sharedNeeds = defineError(
  'FUNCTION_CONFIG_INCOMPLETE',
  'invalid',
  (f: { names: readonly string[] }) => `TERRANE_MODE=shared also needs ${f.names.join(', ')}`,
)

export const secretsKeyMissing = defineError(
  'SECRETS_KEY_MISSING',
  'invalid',
  () => 'No key to encrypt secrets',
  () => ({
    hint: 'Set TERRANE_SECRETS_KEY (32 bytes, hex or base64), or in local mode TERRANE_JWT_SECRET or TERRANE_SERVICE_ROLE_KEY.',
  }),
)

export const cliFailed = defineError('CLI_FAILED', 'invalid', (f: { reason: string }) => f.reason)
