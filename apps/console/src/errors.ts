import { defineError } from '@terrane/core'

export const notSignedIn = defineError(
  'NOT_SIGNED_IN',
  'unauthenticated',
  () => 'No session, or it has expired',
  () => ({ hint: 'Sign in with POST /api/session.' }),
)

export const wrongPassword = defineError(
  'WRONG_PASSWORD',
  'unauthenticated',
  () => 'E-mail address or password is wrong',
)

export const tooManyAttempts = defineError(
  'TOO_MANY_ATTEMPTS',
  'rate_limited',
  (f: { seconds: number }) => `Too many failed attempts; the next one is possible in ${f.seconds} s`,
)

export const tooBusy = defineError(
  'TOO_BUSY',
  'unavailable',
  () => 'Too many sign-ins at the moment',
  () => ({ hint: 'Try again in a few seconds.' }),
)

export const csrfRefused = defineError(
  'CSRF_REFUSED',
  'forbidden',
  (f: { reason: string }) => `The request is refused: ${f.reason}`,
  () => ({ hint: 'Send the csrf_token of GET /api/session as the header x-csrf-token, from the console itself.' }),
)

export const passwordUnchanged = defineError(
  'PASSWORD_REFUSED',
  'invalid',
  (f: { path: string; message: string }) => `The password was not changed: ${f.message}`,
  (f) => ({ errors: [{ path: f.path, message: f.message }] }),
)

export const notOfferedHere = defineError(
  'NOT_FOUND',
  'not_found',
  (f: { what: string }) => `The console does not offer ${f.what.slice(0, 200)}`,
)

export const mapNotFound = defineError(
  'MAP_NOT_FOUND',
  'not_found',
  (f: { id: string }) => `There is no map ${f.id}`,
  () => ({ hint: 'It was deleted or is private. Ask its author for a link.' }),
)

export const mapChanged = defineError(
  'MAP_CHANGED',
  'conflict',
  (f: { id: string }) => `The map ${f.id} has changed since its page was opened: its version or its tables differ`,
  () => ({ hint: 'Reload the map, then make it public.' }),
)

export const rowChanged = defineError(
  'ROW_CHANGED',
  'conflict',
  (f: { column: string }) => `The row was deleted, or its ${f.column} was changed since the page read it`,
  () => ({ hint: 'Reload the rows, then change the value.' }),
)

export const tableNotShared = defineError(
  'TABLE_NOT_SHARED',
  'conflict',
  (f: { table: string; reason: { message?: string } }) => `${f.table} cannot be made public: ${f.reason.message ?? ''}`,
  () => ({ hint: 'Remove its layer from the map, or, as the owner of the table, allow anon to read it.' }),
)

export const originInvalid = defineError(
  'ORIGIN_INVALID',
  'invalid',
  (f: { origin: string }) => `origins: ${f.origin} is not the origin of a page`,
  () => ({ hint: 'Write it like https://maps.example.org, without a path; * for any page.' }),
)

export const filtersInvalid = defineError(
  'FILTERS_INVALID',
  'invalid',
  () => 'filters must be a JSON list of at most 5 filters of a layer',
)

export const serviceOff = defineError(
  'SERVICE_OFF',
  'unavailable',
  (f: { service: string; missing: string }) => `This console has no ${f.service}`,
  (f) => ({ hint: `An operator has to set ${f.missing}.` }),
)

export const serviceDown = defineError(
  'SERVICE_DOWN',
  'unavailable',
  (f: { service: string }) => `The ${f.service} does not answer`,
  () => ({ hint: 'Try again in a moment. If it persists, check the log of that service.' }),
)

export const serviceSlow = defineError(
  'SERVICE_TIMEOUT',
  'timeout',
  (f: { service: string; seconds: number }) => `The ${f.service} did not answer within ${f.seconds} s`,
)

export const projectKeyEnded = defineError(
  'PROJECT_KEY_ENDED',
  'unauthenticated',
  (f: { service: string }) => `The ${f.service} no longer accepts the key that the console sends for this project`,
  () => ({ hint: 'It has expired or was revoked. An operator has to set a new one.' }),
)

export const serviceRefused = defineError(
  'SERVICE_REFUSED',
  'upstream',
  (f: { service: string }) => `The key that the console sends may not do this at the ${f.service}`,
  () => ({ hint: 'An operator has to check that the console and that service use the same keys.' }),
)

export const pageMissing = defineError(
  'PAGE_MISSING',
  'unavailable',
  (f: { reason: string }) => `The page of the console is not built: ${f.reason}`,
  () => ({ hint: 'Run `pnpm build`, or name a built page by TERRANE_CONSOLE_PAGE_DIR.' }),
)

export const basemapInvalid = defineError(
  'BASEMAP_INVALID',
  'invalid',
  (f: { setting: string; reason: string }) =>
    `The setting console.basemap (${f.setting}) is not a basemap: ${f.reason}`,
  () => ({ hint: 'Set `https://…/{z}/{x}/{y}.png`, `https://….pmtiles`, or the absolute path of a PMTiles file.' }),
)

export const secretsKeyMissing = defineError(
  'SECRETS_KEY',
  'invalid',
  () => 'TERRANE_SECRETS_KEY is needed in shared mode: 32 bytes as hex or base64',
)
