import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { credentialsInvalid } from './errors.ts'

const url = (scheme: string, description: string) =>
  Type.Optional(Type.String({ pattern: `^${scheme}://`, maxLength: 2000, description }))
const secret = (description: string, minLength = 1) =>
  Type.Optional(Type.String({ minLength, maxLength: 8192, description }))

/** Credentials for connecting to a project and verifying its callers; stored sealed in the control plane. */
const Schema = Type.Object(
  {
    databaseUrl: url('postgres(ql)?', 'Where jobs write.'),
    storageUrl: url('https?', 'Storage API of the project, …/storage/v1; without it the storage of the pool.'),
    originUrl: url('https?', 'Base of its rest, storage and functions.'),
    apiUrl: url('https?', 'Where functions reach the origin, when that is another address than originUrl.'),
    anonKey: secret('Public key of the project.'),
    serviceRoleKey: secret('Key of the project with every right.'),
    servicesKey: secret(
      'What its functions reach the shared services with; without it the key of the organization.',
      16,
    ),
    jwtSecret: secret('Verifies HS256 tokens.', 32),
    jwksUrl: url('https?', 'Verifies ES256 and RS256 tokens.'),
  },
  { additionalProperties: false },
)
export type Credentials = Static<typeof Schema>

/** Validates credentials; null members are left out. @throws CREDENTIALS_INVALID with fields, never with values */
export function readCredentials(given: unknown): Credentials {
  const isObject = given !== null && typeof given === 'object' && !Array.isArray(given)
  const value = isObject ? Object.fromEntries(Object.entries(given).filter(([, member]) => member !== null)) : given
  if (Value.Check(Schema, value)) return value
  const errors = Value.Errors(Schema, value)
    .slice(0, 20)
    .map(({ instancePath, message }) => ({ path: instancePath || '/', message }))
  throw credentialsInvalid({ errors })
}
