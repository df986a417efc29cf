import { createHmac, randomBytes } from 'node:crypto'

const SECRET_BYTES = 32

/** A new secret of the Standard Webhooks specification: `whsec_` and 32 random bytes as base64. */
export function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

/** Standard Webhooks headers: HMAC-SHA256 of `id.timestamp.body`. @param at of this attempt, as old ones are refused */
export function signedHeaders(secret: string, id: string, at: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}
