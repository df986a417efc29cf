import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { sealBroken } from './errors.ts'

const NONCE = 12
const TAG = 16

/** Seals secrets before they touch a database: AES-256-GCM, `nonce ‖ ciphertext ‖ tag`. */
export interface Sealer {
  /** @param context owner of the data, e.g. a job's id; sealed data cannot be opened in another context */
  seal(value: unknown, context: string): Buffer
  /** @throws SEAL_BROKEN */
  open(sealed: Buffer, context: string): unknown
}

/** A sealer with a key of 32 bytes. */
export function createSealer(key: Buffer): Sealer {
  return {
    seal(value, context) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      return Buffer.concat([nonce, cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, context) {
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE)).setAAD(Buffer.from(context))
        decipher.setAuthTag(sealed.subarray(-TAG))
        const text = Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()]).toString('utf8')
        return JSON.parse(text) as unknown
      } catch (cause) {
        throw sealBroken(undefined, { cause })
      }
    },
  }
}

/** Settings that the key for sealing is made of. */
interface SecretsKeySettings {
  readonly TERRANE_MODE: string
  readonly TERRANE_SECRETS_KEY?: string | undefined
  readonly TERRANE_JWT_SECRET?: string | undefined
  readonly TERRANE_SERVICE_ROLE_KEY?: string | undefined
}

/** The key for sealing by settings, in local mode derived from JWT secret or service key; null if none or malformed. */
export function readSecretsKey(settings: SecretsKeySettings): Buffer | null {
  if (settings.TERRANE_SECRETS_KEY) return parseSecretsKey(settings.TERRANE_SECRETS_KEY)
  const secret = settings.TERRANE_JWT_SECRET ?? settings.TERRANE_SERVICE_ROLE_KEY
  return settings.TERRANE_MODE === 'local' && secret ? deriveSecretsKey(secret) : null
}

/** Reads a key: 64 hex digits, or base64 of 32 bytes. Null when it is neither. */
export function parseSecretsKey(text: string): Buffer | null {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  return key.length === 32 ? key : null
}

/** Sealing key of a local process without a configured one, derived from its other secret. */
function deriveSecretsKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'terrane', 'sealing', 32))
}
