import { defineError } from '@terrane/core'

export const invalidConfig = defineError(
  'INVALID_CONFIG',
  'invalid',
  (f: { problems: readonly string[] }) => `The settings are not usable:\n${f.problems.map((p) => `  ${p}`).join('\n')}`,
  () => ({ hint: 'docs/settings.md has all settings and their ranges.' }),
)

export const addressInUse = defineError(
  'ADDRESS_IN_USE',
  'conflict',
  (f: { host: string; port: number }) => `Another program listens on ${f.host}:${f.port} already`,
  () => ({ hint: 'Stop it, or set PORT to a free one.' }),
)

export const notFound = defineError(
  'NOT_FOUND',
  'not_found',
  (f: { method: string; path: string }) => `No route for ${f.method} ${f.path}`,
)

export const urlRefused = defineError(
  'URL_REFUSED',
  'invalid',
  (f: { reason: string }) => `The URL is refused: ${f.reason}`,
  () => ({
    hint: 'Use a public https address. An operator can allow a host by TERRANE_FETCH_ALLOW_HOSTS and plain http by TERRANE_FETCH_ALLOW_HTTP.',
  }),
)

export const downloadTooLarge = defineError(
  'DOWNLOAD_TOO_LARGE',
  'too_large',
  (f: { limit: number; announced: number | null }) =>
    f.announced === null
      ? `The server sent more than ${f.limit} bytes`
      : `The server announces ${f.announced} bytes, more than the limit of ${f.limit}`,
)

export const downloadGrows = defineError(
  'DOWNLOAD_TOO_LARGE',
  'too_large',
  (f: { ratio: number }) =>
    `The answer of the server would grow to more than ${f.ratio} times its size when it is unpacked`,
  () => ({ hint: 'Serve the file without Content-Encoding.' }),
)

export const downloadFailed = defineError(
  'DOWNLOAD_FAILED',
  'upstream',
  (f: { host: string; reason: string }) => `Reading from ${f.host} failed: ${f.reason}`,
  () => ({ hint: 'Check that the address is right and reachable, then try again.' }),
)

export const downloadRefused = defineError(
  'DOWNLOAD_REFUSED',
  'invalid',
  (f: { host: string; status: number }) => `${f.host} answered with HTTP status ${f.status}`,
  () => ({ hint: 'Check the address and that it needs no sign-in.' }),
)

export const downloadTimeout = defineError(
  'DOWNLOAD_TIMEOUT',
  'timeout',
  (f: { host: string; seconds: number }) => `${f.host} did not finish within ${f.seconds} s`,
)

export const sealBroken = defineError(
  'SEAL_BROKEN',
  'internal',
  () => 'Encrypted data cannot be decrypted: TERRANE_SECRETS_KEY has changed, or they were moved',
)

export const parameterRepeated = defineError(
  'PARAMETER_REPEATED',
  'malformed',
  (f: { name: string }) => `The query parameter ${f.name} is given more than once`,
  (f) => ({ hint: `Send ${f.name} once.`, errors: [{ path: `/${f.name}`, message: 'must be given once' }] }),
)

export const handshakeInvalid = defineError(
  'WEBSOCKET_HANDSHAKE',
  'malformed',
  (f: { reason: string }) => `The WebSocket handshake is not valid: ${f.reason}`,
  () => ({ hint: 'Send the headers of RFC 6455, section 4.1, with version 13 and a new key of 16 bytes in base64.' }),
)

export const bodyTooSlow = defineError(
  'BODY_TOO_SLOW',
  'too_slow',
  () => 'The body did not arrive fast enough',
  () => ({ hint: 'Send the body without pauses; 1 kB in 10 s is enough.' }),
)

export const rateLimited = defineError(
  'RATE_LIMITED',
  'rate_limited',
  (f: { seconds: number }) => `Too many requests; the next one in ${f.seconds} s`,
  (f) => ({
    hint: `Wait ${f.seconds} s. Requests with a secret key are counted by key, others by address.`,
    retrySeconds: f.seconds,
  }),
)

export const metricsClosed = defineError(
  'METRICS_CLOSED',
  'unauthenticated',
  () => "The metrics need the operator's key",
  () => ({ hint: 'Send TERRANE_METRICS_KEY as `Authorization: Bearer`, or give the metrics a port of their own.' }),
)
