import { List } from '@terrane/service'
import { Type } from 'typebox'

/** Variables of every app that asks the control plane for keys. Together with what an app adds they stay within 60 s. */
export const ControlEnv = {
  TERRANE_KEYS_CACHE_MS: Type.Integer({
    default: 20_000,
    minimum: 0,
    maximum: 30_000,
    description: 'How long a key is believed without looking it up again.',
  }),
  TERRANE_KEYS_GRACE_MS: Type.Integer({
    default: 20_000,
    minimum: 0,
    maximum: 3_600_000,
    description: 'How much longer a good key is believed while the database does not answer; after that 503.',
  }),
}

/** What of an app's settings a keyring needs. */
export interface ControlSettings {
  readonly TERRANE_KEYS_CACHE_MS: number
  readonly TERRANE_KEYS_GRACE_MS: number
}

/** Variables of every app that accepts tokens of a project. */
export const TokenEnv = {
  TERRANE_JWT_AUDIENCES: List(
    'Audiences of tokens that are accepted; one without `aud` is, too. Empty accepts any.',
    'authenticated',
  ),
}
